import { sha256 } from '../base/sha256.ts'

/** The longest name that all clients and models accept. */
const maxNameLength = 64
export const separator = '__'
const hashLength = 8

/**
 * Exposed name of an upstream's tool: `server__tool`. It depends only on these two names, so it is stable. A name that clients would
 * not accept is shortened and gets a hash suffix.
 */
export function exposedName(server: string, tool: string): string {
  const plain = `${server}${separator}${tool}`
  if (isPlain(server, tool) && plain.length <= maxNameLength) return plain
  const hash = hashOf(`${server}\0${tool}`)
  const room = maxNameLength - hashLength - 1
  const head = sanitize(server).slice(0, 24)
  return `${head}${separator}${sanitize(tool).slice(0, room - separator.length - head.length)}_${hash}`
}

/** True if the joined name splits unambiguously at the first `__` and cannot be mistaken for a hashed name. */
function isPlain(server: string, tool: string): boolean {
  if (!allowed.test(server) || !allowed.test(tool) || hashed.test(tool)) return false
  return !server.includes(separator) && !server.endsWith('_') && !tool.startsWith('_')
}

const allowed = /^[A-Za-z0-9_-]+$/u
const hashed = /(?:^|_)[0-9a-f]{8}$/u
const sanitize = (text: string): string => text.replaceAll(/[^A-Za-z0-9_-]+/gu, '_').replaceAll(/_{2,}/gu, '_')

const hashOf = (text: string): string =>
  [...sha256(text).subarray(0, hashLength / 2)].map((byte) => byte.toString(16).padStart(2, '0')).join('')

// Leaves room for the prefix `activate_` and for a tool name.
const maxSlugLength = 40

/**
 * A server's name as a prefix of its tools and as the name of its group. The configuration rejects two servers with the same slug.
 */
export function serverSlug(server: string): string {
  const slug = sanitize(server).replaceAll(/^[_-]+|[_-]+$/gu, '')
  if (slug !== '' && slug.length <= maxSlugLength) return slug
  return `${slug === '' ? 'server' : slug.slice(0, maxSlugLength - hashLength - 1).replace(/[_-]+$/u, '')}_${hashOf(server)}`
}
