/** Decodes percent escapes; returns the text itself if one of them is invalid. */
export function decodeUri(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
