import type { Body } from '../records/records.ts'
import { cut } from './text.ts'

/** How much is kept of what a request sends. */
export const requestBodyLimit = 8 * 1024
/** How much is kept of what it gets. */
export const responseBodyLimit = 16 * 1024
/** A body that is larger is not even asked for. */
export const readableBodyLimit = 2 * 1024 * 1024

const textual =
  /^(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml|javascript|x-javascript|ecmascript|x-www-form-urlencoded|graphql|x-ndjson|ndjson|ld\+json)\b|image\/svg\+xml|multipart\/form-data)/i

/** Whether a body of this type can be read as text. */
export function isTextual(mimeType: string): boolean {
  return textual.test(mimeType)
}

/** A body of text, as much of it as is kept. */
export function truncateBody(whole: string, mimeType: string, maxBytes: number): Body {
  const { text, isCut } = cut(whole, maxBytes)
  return { mimeType, bytes: Buffer.byteLength(whole), text, ...(isCut && { cut: true }) }
}

/** A body that nothing is kept of. */
export function omittedBody(mimeType: string, bytes: number, omitted: string): Body {
  return { mimeType, bytes, omitted }
}
