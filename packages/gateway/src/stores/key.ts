import { createHash } from 'node:crypto'
import { canonicalJson } from '@unfold-mcp/core'
import type { ServerConfig } from '../config/schema.ts'

const reaching: readonly string[] = ['type', 'command', 'args', 'env', 'cwd', 'url', 'headers']

/**
 * Under what an upstream is kept: its name, and how it is reached. One that was put in the place of another while the gateway was
 * not running does not get the other's tools.
 */
export function catalogKey(name: string, server: ServerConfig): string {
  const reached = Object.fromEntries(Object.entries(server).filter(([key]) => reaching.includes(key)))
  return `${name}@${createHash('sha256').update(canonicalJson(reached)).digest('hex').slice(0, 16)}`
}
