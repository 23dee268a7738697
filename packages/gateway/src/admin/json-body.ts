import { isRecord } from '@unfold-mcp/core'

/** The JSON object in the body of a request; empty if there is none. */
export function jsonBody(body: Uint8Array | undefined): { readonly [key: string]: unknown } {
  try {
    const value: unknown = JSON.parse(Buffer.from(body ?? []).toString('utf8'))
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}
