import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import type { OAuthClientProvider } from '@modelcontextprotocol/client'
import { canonicalJson, printable } from '@unfold-mcp/core'
import type { CacheKey } from '../cache/cache.ts'
import type { Sandbox } from './sandbox.ts'

/** Server to start as a child process and use over stdio. The command is not run in a shell. */
export interface CommandTarget {
  readonly command: string
  readonly args?: readonly string[]
  /** Added to a small, safe part of the environment of this process. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /**
   * Processes that end with the server. `tree` (default): its process group and, on Linux, descendants that left it; `group`: its
   * process group; `namespace`: a PID namespace of bubblewrap, which no process can leave, or `tree` if bubblewrap cannot be used.
   */
  readonly processes?: 'tree' | 'group' | 'namespace'
  /** Limits what the server can read, write and connect to. Default: no limits. */
  readonly sandbox?: Sandbox
}

/** Source of bearer tokens, called before every request. */
export interface TokenSource {
  token(): Promise<string | undefined>
}

/** Server at a URL. */
export interface UrlTarget {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** `auto` tries Streamable HTTP first, then HTTP+SSE. */
  readonly transport?: 'auto' | 'http' | 'sse'
  readonly auth?: OAuthClientProvider | TokenSource
}

/** Server in this process: a toolbox, an object with `fetch(request)`, or a protocol server with `connect(transport)`. */
export interface LocalTarget {
  readonly server: object
}

/** How to reach a server. */
export type Target = CommandTarget | UrlTarget | LocalTarget

export const isCommand = (target: Target): target is CommandTarget => 'command' in target

export const isUrl = (target: Target): target is UrlTarget => 'url' in target

/** Returns the name of a target for messages, without arguments, queries and headers, which may hold secrets. */
export function labelOf(target: Target): string {
  if (isCommand(target)) return printable(basename(target.command))
  if (!isUrl(target)) return 'the server in this process'
  const url = URL.canParse(target.url) ? new URL(target.url) : undefined
  return printable(url === undefined ? target.url : `${url.origin}${url.pathname}`)
}

export interface TargetScope {
  /** Name of the server; derived from the target by default. */
  readonly name?: string
  /** Identifies whose tools these are. */
  readonly credential?: string
  readonly view?: string
}

/**
 * Returns the cache key for the tools of a target. `undefined` for a server in this process, and for an authenticated target
 * without a credential name, whose tools could belong to any user.
 */
export function cacheKeyOf(target: Target, { name, credential, view = '' }: TargetScope): CacheKey | undefined {
  if (!isCommand(target) && !isUrl(target)) return undefined
  if (isUrl(target) && target.auth !== undefined && credential === undefined) return undefined
  return { name: name ?? labelOf(target), server: digestOf(target, credential !== undefined), credential: credential ?? '', view }
}

const objectIds = new WeakMap<object, number>()
let lastObjectId = 0

/** Returns a key that is equal for the same server, credential and view within this process. */
export function connectionKeyOf(target: Target, { credential = '', view = '' }: TargetScope): string {
  if (isCommand(target)) return JSON.stringify([digestOf(target, false), credential, view])
  const object = isUrl(target) ? target.auth : target.server
  const id = object === undefined ? 0 : (objectIds.get(object) ?? ++lastObjectId)
  if (object !== undefined) objectIds.set(object, id)
  return JSON.stringify([isUrl(target) ? digestOf(target, credential !== '') : '', id, credential, view])
}

const secretHeaders = new Set(['authorization', 'cookie', 'proxy-authorization'])

/** Digests everything that selects the server. With a named credential, headers that carry one are excluded. */
function digestOf(target: CommandTarget | UrlTarget, hasCredential: boolean): string {
  const { command, args = [], env = {}, cwd = '', sandbox }: CommandTarget = isCommand(target) ? target : { command: '' }
  const { url, headers = {}, transport = 'auto' } = isUrl(target) ? target : { url: '' }
  const stable = Object.entries(headers)
    .map(([header, value]) => [header.toLowerCase(), value] as const)
    .filter(([header]) => !hasCredential || !secretHeaders.has(header))
  const parts = isCommand(target)
    ? { command, args, env, cwd, ...(sandbox !== undefined && { sandbox }) }
    : { url, headers: Object.fromEntries(stable), transport }
  return createHash('sha256').update(canonicalJson(parts)).digest('hex')
}

/** Adds the query of a view to a URL. */
export function urlWithView(address: string, view: string | undefined): URL {
  const url = new URL(address)
  for (const [name, value] of new URLSearchParams(view)) url.searchParams.set(name, value)
  return url
}
