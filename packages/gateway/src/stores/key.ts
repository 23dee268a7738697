import { createHash } from 'node:crypto'
import { canonicalJson } from '@unfold-mcp/core'
import { reach } from '../config/diff.ts'
import type { ServerConfig } from '../config/schema.ts'

/**
 * Under what an upstream is kept: its name, and how it is reached. One that was put in the place of another while the gateway was
 * not running does not get the other's tools.
 */
export function catalogKey(name: string, server: ServerConfig): string {
  const { disabled: _disabled, ...reached } = reach(server)
  return `${name}@${createHash('sha256').update(canonicalJson(reached)).digest('hex').slice(0, 16)}`
}
