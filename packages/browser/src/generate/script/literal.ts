import { escapeInvisible } from '../../reply/reply.ts'

/** What a page said, as a literal of a script: the same text when it runs, and nothing in it can end the literal. */
export function literal(text: string): string {
  return escapeInvisible(JSON.stringify(text))
}

/** Whether a part of the text was taken out before it was kept. */
export function isRedacted(text: string): boolean {
  return /(?:\[|%5b)redacted/i.test(text)
}
