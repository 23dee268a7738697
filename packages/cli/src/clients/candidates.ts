import { basename } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { FoundServer, ServerTarget } from '../config/index.ts'
import { entryName } from './clients.ts'

export interface Candidate {
  /** Name in the gateway configuration. */
  readonly name: string
  readonly server: FoundServer
  readonly definition: { readonly [key: string]: unknown }
  /** Reason for skipping it. */
  readonly skipped?: string
}

export interface CandidatesOptions {
  /** Servers already in the configuration. */
  readonly present: { readonly [name: string]: unknown }
  /** URLs of the user's own gateways, which are never imported. */
  readonly own: readonly string[]
  /** Whether the user passed the file; project servers are imported only from such a file. */
  readonly isNamed: boolean
  /** Working directory for commands of such a file. */
  readonly folder?: string
}

export const alreadyConfigured = 'already configured'

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
  if (isOurs(server, own)) return 'the gateway itself'
  if (server.trust === 'project' && !isNamed) return `project server; import it with --from ${basename(server.source.file)}`
  if (taken.has(name)) return 'duplicate name'
  if (!Object.hasOwn(present, name)) return undefined
  return isDeepStrictEqual(present[name], definition) ? alreadyConfigured : 'name already in use'
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
