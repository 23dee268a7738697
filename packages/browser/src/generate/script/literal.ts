import { escapeInvisible } from '../../reply/reply.ts'

/** Encodes untrusted text as a string literal that it cannot terminate. */
export function literal(text: string): string {
  return escapeInvisible(JSON.stringify(text))
}

export function isRedacted(text: string): boolean {
  return /(?:\[|%5b)redacted/i.test(text)
}
