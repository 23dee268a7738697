import { type Sha256, printable } from '@unfold-mcp/core'

/** The longest name that every client and model takes. */
const longest = 64
const separator = '__'
const hashLength = 8

/**
 * The name under which clients see a tool of an upstream: `server__tool`. It depends on these two alone, so it stays the same
 * whatever else is there; what does not fit into what clients take is shortened and told apart by a hash.
 */
export function exposedName(server: string, tool: string, sha256: Sha256): string {
  const plain = `${server}${separator}${tool}`
  if (isPlain(server, tool) && plain.length <= longest) return plain
  const hash = hexOf(sha256(`${server}\0${tool}`)).slice(0, hashLength)
  const room = longest - hashLength - 1
  const fit = (text: string, most: number): string => fitting(text).slice(0, most)
  const head = fit(server, Math.min(24, room - separator.length - 1))
  return `${head}${separator}${fit(tool, room - separator.length - head.length)}_${hash}`
}

/** Whether both parts can be read off the joined name again: at its first `__`. */
function isPlain(server: string, tool: string): boolean {
  return allowed.test(server) && allowed.test(tool) && !server.includes(separator) && !server.endsWith('_') && !tool.startsWith('_')
}

const allowed = /^[A-Za-z0-9_-]+$/u
const fitting = (text: string): string => text.replaceAll(/[^A-Za-z0-9_-]+/gu, '_').replaceAll(/_{2,}/gu, '_')

const hexOf = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')

/** Names that a person would take for the same: they differ in capitals or in `-` and `_` alone. */
export function lookAlikes(names: Iterable<string>): readonly (readonly string[])[] {
  const found = new Map<string, string[]>()
  for (const name of names) {
    const key = name.toLowerCase().replaceAll('-', '_')
    const others = found.get(key)
    if (others === undefined) found.set(key, [name])
    else if (!others.includes(name)) others.push(name)
  }
  return [...found.values()].filter((each) => each.length > 1)
}

/** A server's name as groups are called: what a model types after `activate_`. */
export function groupName(server: string): string {
  return fitting(server).toLowerCase().replaceAll(/^_+|_+$/gu, '') || printable(server)
}
