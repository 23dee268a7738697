import { createHash } from 'node:crypto'
import { dirname } from 'node:path'
import { canonicalJson } from '@unfold-mcp/core'
import type { WrittenConfig } from '@unfold-mcp/gateway/config'
import { dataFolder, type Io } from '../base/io.ts'
import { approvalStore, maskedTarget, permissionFor, type ServerTarget } from '../config/index.ts'
import { type Flags, isSet } from '../grammar/grammar.ts'
import { codeVariables, requireCodeConsent } from '../interactive/code-consent.ts'
import { requireConfirmation } from '../interactive/require-confirmation.ts'
import type { Output } from '../output/output.ts'
import { safeText } from '../text/safe.ts'
import { requireConfig, userConfigFile } from './config-file.ts'

/**
 * Configuration to serve. A file found in the working directory may have come with the project, so the user must have approved what
 * it starts. `isConfirmed`: the user has approved it now.
 */
export async function approvedConfig(
  named: string | undefined,
  { flags, io, output }: { readonly flags: Flags; readonly io: Io; readonly output: Output },
): Promise<{ readonly file: string; readonly isConfirmed: boolean }> {
  const file = await requireConfig(named, io)
  if (named !== undefined || file === userConfigFile(io) || dirname(file) === io.home) return { file, isConfirmed: false }
  const { isLoopback, secretCommands, writtenConfig } = await import('@unfold-mcp/gateway/config')
  const written = await writtenConfig(file)
  const { targets, paths } = effectsOf(written)
  // `doors` is part of the approved hash.
  const doors = accessRules(written, isLoopback)
  const commands = secretCommands(written)
  const lines = [
    ...Object.entries(targets).map(
      ([name, target]) => `  ${safeText(name)}  ${safeText(JSON.stringify(maskedTarget(target)), wide)}`,
    ),
    ...paths.map((path) => `  writes to ${safeText(path, wide)}`),
    ...commands.map((command) => `  runs ${safeText(command, wide)}`),
    ...doors.map((door) => `  ${safeText(door, wide)}`),
  ]
  if (lines.length === 0) return { file, isConfirmed: false }
  const what = `${safeText(file)} is in this folder. With it, the gateway starts or connects to:\n${lines.join('\n')}`
  const store = approvalStore(dataFolder(io), (message) => output.warn(message))
  const hash = createHash('sha256')
    .update(canonicalJson({ targets, paths, doors, ...(commands.length > 0 && { commands }) }))
    .digest('hex')
  const request = { key: 'unfold serve', trust: 'project', source: { client: 'unfold', file, line: 1 }, hash } as const
  const isApproved = permissionFor(request, await store.list()) === 'allowed'
  if (!isApproved) await requireCodeConsent(codeVariables(targets), { flags, io, otherwise: 'Nothing was started.' })
  if (isApproved || isSet(flags, 'yes')) output.note(what)
  else
    await requireConfirmation(`${what}\nServe it?`, {
      flags,
      io,
      reason: 'not_approved',
      otherwise: 'Nothing was started.',
      blocked: `${what}\nNot approved. Review the file, then pass it explicitly (unfold serve unfold.json), use --yes, or run this in a terminal.`,
    })
  await store.approve(request)
  return { file, isConfirmed: !isApproved }
}

const wide = { limit: 2_000 }

function effectsOf({ mcpServers, store, audit }: WrittenConfig) {
  const targets: Record<string, ServerTarget> = {}
  for (const [name, server] of Object.entries(mcpServers)) {
    if (server.disabled) continue
    if ('url' in server) targets[name] = { url: server.url, ...(hasAny(server.headers) && { headers: server.headers }) }
    else {
      const { command, args, env, cwd } = server
      targets[name] = { command, args, ...(hasAny(env) && { env }), ...(cwd !== undefined && { cwd }) }
    }
  }
  const database = store.kind === 'sqlite' ? store.path : undefined
  return { targets, paths: [database, audit?.path].filter((path) => path !== undefined) }
}

/** Access from outside this machine. */
function accessRules({ listen, tokens, scripts }: WrittenConfig, isLoopback: (host: string) => boolean): readonly string[] {
  const { host, allowedHosts, allowedOrigins, trustedProxies } = listen
  const holders = tokens.map(
    ({ name, hash, role }) => `${name} (${hash.slice(0, hashPrefixLength)}${role === undefined ? '' : `, ${role}`})`,
  )
  return [
    ...(isLoopback(host) ? [] : [`listens on ${host}; tokens: ${holders.join(', ')}`]),
    ...allowedHosts.map((name) => `accepts host name ${name}`),
    ...allowedOrigins.map((origin) => `accepts browser origin ${origin}`),
    ...trustedProxies.map((proxy) => `trusts the client addresses that ${proxy} forwards`),
    ...scriptRules(scripts),
  ]
}

/** What scripts may do that their review does not show. */
function scriptRules(scripts: WrittenConfig['scripts']): readonly string[] {
  if (typeof scripts !== 'object') return []
  const { folder, trust, grants } = scripts
  return [
    ...(trust === 'review' ? [] : [`offers the scripts in ${folder} without review (trust: ${trust})`]),
    ...Object.entries(grants).map(([script, tools]) => `lets the script ${script} call ${tools.join(', ')} for every client`),
  ]
}

// Enough to distinguish tokens.
const hashPrefixLength = 'sha256:'.length + 16

const hasAny = (values: object): boolean => Object.keys(values).length > 0
