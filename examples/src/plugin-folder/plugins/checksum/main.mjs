// Handlers of the tools in plugin.json, by tool name.
import { createHash } from 'node:crypto'
import { ToolError } from '@unfold-mcp/server/plugins/define'

const byLength = { 32: 'md5', 64: 'sha256', 128: 'sha512' }

const digest = (text, algorithm) => createHash(algorithm).update(text).digest('hex')

export const checksum = ({ text, algorithm = 'sha256' }) => digest(text, algorithm)

export function verify_checksum({ text, checksum: given }) {
  const wanted = given.trim().toLowerCase()
  const algorithm = byLength[wanted.length]
  if (algorithm === undefined) throw new ToolError('Invalid checksum: expected 32, 64 or 128 hexadecimal digits.')
  return { matches: digest(text, algorithm) === wanted, algorithm }
}
