import type { Body } from '../records/records.ts'
import { cut } from './text.ts'

/** Maximum stored size of a request body. */
export const requestBodyLimit = 8 * 1024
/** Maximum stored size of a response body. */
export const responseBodyLimit = 16 * 1024
/** Larger bodies are not read. */
export const readableBodyLimit = 2 * 1024 * 1024

const textual =
  /^(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml|javascript|x-javascript|ecmascript|x-www-form-urlencoded|graphql|x-ndjson|ndjson|ld\+json)\b|image\/svg\+xml|multipart\/form-data)/i

/** True for a textual MIME type. */
export function isTextual(mimeType: string): boolean {
  return textual.test(mimeType)
}

/** Creates a body from text, truncated to `maxBytes`. */
export function truncateBody(whole: string, mimeType: string, maxBytes: number): Body {
  const { text, isCut } = cut(whole, maxBytes)
  return { mimeType, bytes: Buffer.byteLength(whole), text, ...(isCut && { cut: true }) }
}

/** Creates a body without content. */
export function omittedBody(mimeType: string, bytes: number, omitted: string): Body {
  return { mimeType, bytes, omitted }
}
