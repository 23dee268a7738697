import { basename } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { FoundServer, ServerTarget } from '../config/index.ts'
import { entryName } from './clients.ts'

/** A server of another program, and what becomes of it. */
export interface Candidate {
  /** What it is called behind the gateway. */
  readonly name: string
  readonly server: FoundServer
  readonly definition: { readonly [key: string]: unknown }
  /** Why it is left out; nothing for one that is taken over. */
  readonly skipped?: string
}

export interface CandidatesOptions {
  /** The servers that the configuration has already. */
  readonly present: { readonly [name: string]: unknown }
  /** The addresses of gateways of this user: none is put behind itself. */
  readonly own: readonly string[]
  /** Whether the user named the file: what comes with a project is taken over from such a file alone. */
  readonly isNamed: boolean
  /** Where commands of such a file run, if not in the folder of the gateway's own. */
  readonly folder?: string
}

/** Why one is left out that is behind the gateway already. */
export const alreadyConfigured = 'is there already'

/** What becomes of each server that was found. */
export function importCandidates(found: readonly FoundServer[], options: CandidatesOptions): readonly Candidate[] {
  const taken = new Set<string>()
  return found
    .filter(({ source, also }) => [source, ...also].some(({ client }) => client !== 'unfold') || options.isNamed)
    .map((server): Candidate => {
      const name = server.name.replaceAll(/[^\w.-]+/gu, '-').slice(0, 100)
      const definition = definitionOf(server, options.isNamed ? options.folder : undefined)
      const skipped = reasonToSkip(server, name, definition, { ...options, taken })
      taken.add(name)
      return { name, server, definition, ...(skipped !== undefined && { skipped }) }
    })
}

function definitionOf({ portable, disabled }: FoundServer, cwd: string | undefined): Candidate['definition'] {
  const off = disabled ? { disabled } : {}
  if (!('url' in portable)) return { ...(cwd !== undefined && { cwd }), ...portable, ...off }
  const { url, headers, transport } = portable
  const type = transport === 'auto' || transport === undefined ? {} : { type: transport }
  return { ...type, url, ...(headers !== undefined && { headers }), ...off }
}

function reasonToSkip(
  server: FoundServer,
  name: string,
  definition: object,
  { present, own, isNamed, taken }: CandidatesOptions & { readonly taken: ReadonlySet<string> },
): string | undefined {
  if (isOurs(server, own)) return 'is the gateway itself'
  if (server.trust === 'project' && !isNamed)
    return `comes with this project; take it over with --from ${basename(server.source.file)}`
  if (taken.has(name)) return 'another has this name'
  if (!Object.hasOwn(present, name)) return undefined
  return isDeepStrictEqual(present[name], definition) ? alreadyConfigured : 'another of this name is there already'
}

function isOurs({ key, target }: FoundServer, own: readonly string[]): boolean {
  return key === entryName || isOwnAddress(target, own) || isOwnCommand(target)
}

const loopback = /^(?:127(?:\.\d+){3}|localhost|\[::1\])$/u

function isOwnAddress(target: ServerTarget, own: readonly string[]): boolean {
  if (!('url' in target) || !URL.canParse(target.url)) return false
  const { hostname, port, host } = new URL(target.url)
  return own.some((each) => {
    const ours = new URL(each)
    return ours.host === host || (ours.port === port && loopback.test(ours.hostname) && loopback.test(hostname))
  })
}

function isOwnCommand(target: ServerTarget): boolean {
  if ('url' in target) return false
  const words = [target.command, ...(target.args ?? [])]
  const at = words.indexOf('serve')
  return (
    at > 0 &&
    words
      .slice(0, at)
      .some((word) => /(?:^|[\\/])unfold(?:\.cmd)?$|@unfold-mcp[\\/]cli|[\\/]cli[\\/](?:dist|bundle)[\\/]main\.js$/u.test(word))
  )
}
