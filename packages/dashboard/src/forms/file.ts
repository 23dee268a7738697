import { t } from '../locales/translate.ts'

// Larger than what a gateway accepts in one request by default.
const maxBytes = 3_000_000

/** Reads a file as text, or as Base64 for values that are not text. */
export async function fileText(
  file: File,
  as: 'text' | 'base64',
): Promise<{ readonly text: string } | { readonly problem: string }> {
  if (file.size > maxBytes) return { problem: t('form.file.large', { name: file.name, size: file.size, limit: maxBytes }) }
  if (as === 'base64') return { text: base64Of(new Uint8Array(await file.arrayBuffer())) }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer()) }
  } catch {
    return { problem: t('form.file.binary', { name: file.name }) }
  }
}

function base64Of(bytes: Uint8Array): string {
  // One call with all bytes as arguments would exceed the stack.
  const slices: string[] = []
  for (let start = 0; start < bytes.length; start += 32_768)
    slices.push(String.fromCharCode(...bytes.subarray(start, start + 32_768)))
  return btoa(slices.join(''))
}
