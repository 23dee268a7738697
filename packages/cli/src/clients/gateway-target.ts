import { realpath } from 'node:fs/promises'
import { CommandError, exit, usageError } from '../base/exit.ts'
import { dataFolder, type Io } from '../base/io.ts'
import { findConfig, requireConfig } from '../gateway/config-file.ts'
import { findGateways } from '../gateway/running.ts'
import { type Flags, isSet, textOf } from '../grammar/grammar.ts'
import type { Client, PastedClient } from './clients.ts'
import { deferralOf } from './deferral.ts'
import { chooseExposure, type ExposureChoice, type ExposureName, exposureNames, parseExposure } from './exposure.ts'
import { programVersion } from './program-version.ts'

export interface GatewayTarget {
  readonly address: string
  /** Whether its configuration requires a token. */
  readonly wantsToken: boolean
  readonly config: string | undefined
  readonly exposure: ExposureChoice
}

/** The gateway at `--url`, the running one, or the configured one. */
export async function resolveGateway(client: Client | PastedClient, flags: Flags, io: Io): Promise<GatewayTarget> {
  const profile = textOf(flags, 'profile')
  const { address, config } = await addressOf(flags, io)
  const read = config === undefined ? undefined : await configuration(config, profile, io)
  const exposure = await exposureFor(client, { flags, io, address, configured: read?.exposure })
  return {
    address: addressWith(address, { profile, host: client.host, exposure }),
    wantsToken: read?.wantsToken ?? false,
    config,
    exposure,
  }
}

export interface StdioCommand {
  readonly command: string
  readonly args: readonly string[]
  /** UNFOLD_HOME, if not the default: the client may not have it in its environment. */
  readonly env?: Readonly<Record<string, string>>
  readonly config: string
  readonly exposure: ExposureChoice
}

export async function stdioCommand(client: Client, flags: Flags, io: Io): Promise<StdioCommand> {
  const profile = textOf(flags, 'profile')
  const config = await requireConfig(textOf(flags, 'config'), io)
  const { exposure: configured } = await configuration(config, profile, io)
  const exposure = await exposureFor(client, { flags, io, address: '', configured })
  const args = [
    ...[await ownProgram(), 'serve', config, '--stdio', '--host', client.host],
    ...(exposure.isExplicit ? ['--exposure', exposure.exposure] : []),
    ...(profile === undefined ? [] : ['--profile', profile]),
  ]
  const folder = dataFolder(io)
  const isUsual = folder === dataFolder({ ...io, env: {} })
  return { command: process.execPath, args, ...(!isUsual && { env: { UNFOLD_HOME: folder } }), config, exposure }
}

interface ExposureOptions {
  readonly flags: Flags
  readonly io: Io
  readonly address: string
  readonly configured: ExposureName | undefined
}

async function exposureFor(
  { title, host }: Client | PastedClient,
  { flags, io, address, configured }: ExposureOptions,
): Promise<ExposureChoice> {
  const flag = textOf(flags, 'exposure')
  const asked = URL.canParse(address) ? new URL(address).searchParams.get('exposure') : null
  return chooseExposure({
    title,
    host,
    flag: flag === undefined ? undefined : parseExposure(flag),
    address: exposureNames.find((name) => name === asked),
    configured,
    deferral: await deferralOf(host, io, (program) => programVersion(program, io)),
  })
}

/** Adds the profile to the path, and host and exposure to the query. */
function addressWith(
  address: string,
  { profile, host, exposure }: { readonly profile: string | undefined; readonly host: string; readonly exposure: ExposureChoice },
): string {
  const [url = ''] = address.split('#', 1)
  const [path = '', query = ''] = url.split(/\?(.*)/su)
  const base = profile === undefined ? path : `${path.replace(/\/$/u, '')}/${encodeURIComponent(profile)}`
  const kept = query.split('&').filter((each) => each !== '' && !(exposure.isExplicit && each.startsWith('exposure=')))
  const hasHost = kept.some((each) => each.startsWith('host='))
  const all = [...kept, ...(hasHost ? [] : [`host=${host}`]), ...(exposure.isExplicit ? [`exposure=${exposure.exposure}`] : [])]
  return `${base}?${all.join('&')}`
}

async function configuration(
  file: string,
  profile: string | undefined,
  io: Io,
): Promise<{ readonly wantsToken: boolean; readonly exposure: ExposureName | undefined }> {
  const { hasClientTokens, readConfig } = await import('@unfold-mcp/gateway/config')
  const { profiles, tokens, exposure } = (await readConfig(file, io.env)).config
  const names = Object.keys(profiles)
  if (profile !== undefined && !names.includes(profile)) {
    const known = names.length === 0 ? 'No profiles are defined.' : `Available: ${names.join(', ')}.`
    throw usageError(`Unknown profile "${profile}" in ${file}. ${known}`, { known: names })
  }
  const own = profile === undefined ? undefined : modeOf(profiles[profile]?.exposure)
  return { wantsToken: hasClientTokens(tokens), exposure: own ?? modeOf(exposure) }
}

const modeOf = (exposure: ExposureName | { readonly mode?: ExposureName | undefined } | undefined): ExposureName | undefined =>
  typeof exposure === 'object' ? exposure.mode : exposure

async function addressOf(flags: Flags, io: Io): Promise<{ readonly address: string; readonly config: string | undefined }> {
  const url = textOf(flags, 'url')
  if (url !== undefined) {
    if (!URL.canParse(url) || !/^https?:/u.test(url))
      throw usageError(`--url must be a URL such as http://127.0.0.1:7420/mcp, not "${url}".`)
    return { address: url, config: undefined }
  }
  const [running, ...others] = (await findGateways(flags, io)).filter(({ transport }) => transport === 'http')
  if (others.length > 0)
    throw new CommandError(exit.usage, 'ambiguous_gateway', 'Several gateways are running. Choose one with --config or --url.')
  const file = running?.config ?? (await findConfig(textOf(flags, 'config'), io))
  if (file === undefined) return { address: 'http://127.0.0.1:7420/mcp', config: undefined }
  if (running !== undefined) return { address: running.url, config: file }
  const { localUrl, readConfig } = await import('@unfold-mcp/gateway/config')
  const { listen } = (await readConfig(file, io.env)).config
  const host = listen.host.includes(':') ? `[${listen.host}]` : listen.host
  return { address: localUrl(`http://${host}:${listen.port}/mcp`), config: file }
}

/** Absolute path, because clients start programs without a shell. */
async function ownProgram(): Promise<string> {
  const program = process.argv[1]
  if (program === undefined) throw new CommandError(exit.failed, 'no_program', 'The path of the unfold program is unknown.')
  return realpath(program)
}

export const startsCommand = ({ takesAddress }: Client, flags: Flags): boolean => isSet(flags, 'stdio') || !takesAddress
