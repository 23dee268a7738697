import { createHash } from 'node:crypto'
import { canonicalJson } from '@unfold-mcp/core'
import type { ServerConfig } from '../config/schema.ts'

const connectionKeys: readonly string[] = ['type', 'command', 'args', 'env', 'cwd', 'url', 'headers', 'scripts']

/**
 * Cache key of an upstream: its name and its connection settings. A server that replaced another of the same name does not get the
 * other's tools.
 */
export function catalogKey(name: string, server: ServerConfig): string {
  const connection = Object.fromEntries(Object.entries(server).filter(([key]) => connectionKeys.includes(key)))
  return `${name}@${createHash('sha256').update(canonicalJson(connection)).digest('hex').slice(0, 16)}`
}
