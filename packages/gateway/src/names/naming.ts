import { sha256 } from '../base/sha256.ts'

/** The longest name that every client and model takes. */
const longest = 64
/** What stands between a server and its tool. */
export const separator = '__'
const hashLength = 8

/**
 * The name under which clients see a tool of an upstream: `server__tool`. It depends on these two alone, so it stays the same
 * whatever else is there; what does not fit into what clients take is shortened and told apart by a hash.
 */
export function exposedName(server: string, tool: string): string {
  const plain = `${server}${separator}${tool}`
  if (isPlain(server, tool) && plain.length <= longest) return plain
  const hash = hashOf(`${server}\0${tool}`)
  const room = longest - hashLength - 1
  const head = fitting(server).slice(0, 24)
  return `${head}${separator}${fitting(tool).slice(0, room - separator.length - head.length)}_${hash}`
}

/** Whether both parts can be read off the joined name again, at its first `__`, and it is no name that a hash was put to. */
function isPlain(server: string, tool: string): boolean {
  if (!allowed.test(server) || !allowed.test(tool) || hashed.test(tool)) return false
  return !server.includes(separator) && !server.endsWith('_') && !tool.startsWith('_')
}

const allowed = /^[A-Za-z0-9_-]+$/u
const hashed = /(?:^|_)[0-9a-f]{8}$/u
const fitting = (text: string): string => text.replaceAll(/[^A-Za-z0-9_-]+/gu, '_').replaceAll(/_{2,}/gu, '_')

const hashOf = (text: string): string =>
  [...sha256(text).subarray(0, hashLength / 2)].map((byte) => byte.toString(16).padStart(2, '0')).join('')

/** Names that a person would take for the same: they differ in capitals, in `-` and `_`, or in letters that look alike. */
export function lookAlikes(names: Iterable<string>): readonly (readonly string[])[] {
  const found = new Map<string, Set<string>>()
  for (const name of names) {
    const key = lookKey(name)
    const others = found.get(key)
    if (others === undefined) found.set(key, new Set([name]))
    else others.add(name)
  }
  return [...found.values()].filter(({ size }) => size > 1).map((each) => [...each])
}

/** The same text for names that look alike. */
export function lookKey(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[-_]+/gu, '_')
    .replaceAll(/[il1|]/gu, 'l')
    .replaceAll('0', 'o')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
}

// Room for `activate_` before it and for a tool behind it.
const maxSlugLength = 40

/**
 * A server's name as part of other names: of its tools, and of its group, which a model types after `activate_`. It depends on
 * the server's name alone; the configuration refuses two servers that would have the same.
 */
export function serverSlug(server: string): string {
  const slug = fitting(server).replaceAll(/^[_-]+|[_-]+$/gu, '')
  if (slug !== '' && slug.length <= maxSlugLength) return slug
  return `${slug === '' ? 'server' : slug.slice(0, maxSlugLength - hashLength - 1).replace(/[_-]+$/u, '')}_${hashOf(server)}`
}
