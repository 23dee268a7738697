// What stands on a letter, and what becomes such a mark where forms are folded.
const marks = /[\p{M}\u{FF9E}\u{FF9F}]+/gu
// Unicode's own limit for text that is read as it comes; no language has more on one letter.
const maxMarks = 30

/**
 * The text in a normal form of Unicode, with at most 30 marks on a letter. Those are put in order, which takes the square of their
 * number: a text of nothing else would keep a processor busy for minutes.
 */
export function normalForm(text: string, form: 'NFC' | 'NFKC' | 'NFKD'): string {
  return text.replace(marks, (run) => (run.length > maxMarks ? run.slice(0, maxMarks) : run)).normalize(form)
}
