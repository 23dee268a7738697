import { isRecord } from '@unfold-mcp/core'

/** Parses the body of a request; an empty object if it is not a JSON object. */
export function parseBody(body: Uint8Array | undefined): { readonly [key: string]: unknown } {
  try {
    const value: unknown = JSON.parse(Buffer.from(body ?? []).toString('utf8'))
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}
