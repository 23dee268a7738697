// Combining marks, and characters that normalize to them.
const marks = /[\p{M}\u{FF9E}\u{FF9F}]+/gu
// Limit of the Unicode Stream-Safe Text Format.
const maxMarks = 30

/**
 * Normalizes text with at most 30 combining marks per letter. Sorting marks takes quadratic time, so unlimited marks would block for
 * minutes.
 */
export function normalForm(text: string, form: 'NFC' | 'NFKC' | 'NFKD'): string {
  return text.replace(marks, (run) => (run.length > maxMarks ? run.slice(0, maxMarks) : run)).normalize(form)
}
