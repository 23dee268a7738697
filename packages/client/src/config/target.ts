import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import type { OAuthClientProvider } from '@modelcontextprotocol/client'
import { canonicalJson, printable } from '@unfold-mcp/core'
import type { CacheKey } from '../cache/cache.ts'

/** A server that is started for this client, and spoken to over its standard input and output. No shell reads the command. */
export interface CommandTarget {
  readonly command: string
  readonly args?: readonly string[]
  /** Added to a small safe part of this process's own environment. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

/** Where a bearer token comes from; asked before every request. */
export interface TokenSource {
  token(): Promise<string | undefined>
}

/** A server that is there already. */
export interface UrlTarget {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** `auto` tries Streamable HTTP first, and what was before it when the server knows no better. */
  readonly transport?: 'auto' | 'http' | 'sse'
  readonly auth?: OAuthClientProvider | TokenSource
}

/** A server in this process: a toolbox, anything with `fetch(request)`, or a protocol server with `connect(transport)`. */
export interface LocalTarget {
  readonly server: object
}

/** Where a server is, and how it is reached. */
export type Target = CommandTarget | UrlTarget | LocalTarget

export const isCommand = (target: Target): target is CommandTarget => 'command' in target

export const isUrl = (target: Target): target is UrlTarget => 'url' in target

/** What to call a target in a message. Arguments, queries and headers may hold secrets, so none is in it. */
export function labelOf(target: Target): string {
  if (isCommand(target)) return printable(basename(target.command))
  if (!isUrl(target)) return 'the server in this process'
  const url = URL.canParse(target.url) ? new URL(target.url) : undefined
  return printable(url === undefined ? target.url : `${url.origin}${url.pathname}`)
}

export interface Whose {
  /** What people call the server; made from the target otherwise. */
  readonly name?: string
  /** Names whose list it is. */
  readonly credential?: string
  readonly view?: string
}

/**
 * Under what the tools of a target are kept, or `undefined` when they are not: a server in this process needs no cache, and
 * a login that nobody named could be anybody's.
 */
export function cacheKeyOf(target: Target, { name, credential, view = '' }: Whose): CacheKey | undefined {
  if (!isCommand(target) && !isUrl(target)) return undefined
  if (isUrl(target) && target.auth !== undefined && credential === undefined) return undefined
  return { name: name ?? labelOf(target), server: digestOf(target, credential !== undefined), credential: credential ?? '', view }
}

const places = new WeakMap<object, number>()
let placed = 0

/** The same text for the same server, credential and view within this process. */
export function connectionKeyOf(target: Target, { credential = '', view = '' }: Whose): string {
  if (isCommand(target)) return JSON.stringify([digestOf(target, false), credential, view])
  const object = isUrl(target) ? target.auth : target.server
  const place = object === undefined ? 0 : (places.get(object) ?? ++placed)
  if (object !== undefined) places.set(object, place)
  return JSON.stringify([isUrl(target) ? digestOf(target, credential !== '') : '', place, credential, view])
}

const secretHeaders = new Set(['authorization', 'cookie', 'proxy-authorization'])

/** A digest of all that decides which server answers. When a credential is named, headers that carry one do not count. */
function digestOf(target: CommandTarget | UrlTarget, isNamed: boolean): string {
  const { command, args = [], env = {}, cwd = '' } = isCommand(target) ? target : { command: '' }
  const { url, headers = {}, transport = 'auto' } = isUrl(target) ? target : { url: '' }
  const lasting = Object.entries(headers)
    .map(([header, value]) => [header.toLowerCase(), value] as const)
    .filter(([header]) => !isNamed || !secretHeaders.has(header))
  const parts = isCommand(target) ? { command, args, env, cwd } : { url, headers: Object.fromEntries(lasting), transport }
  return createHash('sha256').update(canonicalJson(parts)).digest('hex')
}

/** An address with a view asked for in its query. */
export function viewedUrl(address: string, view: string | undefined): URL {
  const url = new URL(address)
  for (const [name, value] of new URLSearchParams(view)) url.searchParams.set(name, value)
  return url
}
