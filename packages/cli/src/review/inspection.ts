import { dirname, join } from 'node:path'
import { toolTokens } from '@unfold-mcp/core'
import type { Finding } from '@unfold-mcp/gateway'
import type { ReadConfig } from '@unfold-mcp/gateway/config'
import { toCommandError } from '../base/failure.ts'
import { dataFolder, type Io } from '../base/io.ts'
import { timeLimit } from '../base/time-limit.ts'
import type { Flags } from '../grammar/grammar.ts'
import type { Output } from '../output/output.ts'
import { connectTo } from '../servers/servers.ts'
import { formatNumber, plural } from '../text/number.ts'
import { safeText } from '../text/safe.ts'
import { canAsk } from './reviewer.ts'

/** What a server offers, and what the rules found in it. */
export interface Inspection {
  readonly tools: readonly string[]
  readonly tokens: number
  readonly findings: readonly Finding[]
}

export interface InspectionOptions {
  readonly file: string
  readonly flags: Flags
  readonly io: Io
  readonly output: Output
}

// A script does not wait for an installation.
const scriptTimeoutMs = 10_000
const maxTimeoutMs = 660_000

/** Connects to a server as the gateway would. Undefined if it cannot be reached, with a note. */
export async function inspectServer(
  name: string,
  { config, notStarted }: ReadConfig,
  { file, flags, io, output }: InspectionOptions,
): Promise<Inspection | undefined> {
  if (config.mcpServers[name]?.disabled !== false || notStarted.has(name)) return undefined
  const [{ serverTarget }, { definitionFindings }] = await Promise.all([
    import('@unfold-mcp/gateway/config'),
    import('@unfold-mcp/gateway/trust'),
  ])
  const home = dataFolder(io)
  const sandboxBase = { hide: [file, home], installs: join(home, 'sandbox') }
  const target = serverTarget(config, name, { folder: dirname(file), sandboxBase })
  if (target === undefined) return undefined
  using limit = timeLimit(canAsk(flags, io) ? maxTimeoutMs : scriptTimeoutMs, [io.signal])
  try {
    const options = { signal: limit.signal, relays: true }
    await using connection = await connectTo({ label: name, target }, { ...flags, 'no-cache': true }, io, output, options)
    const tools = await connection.tools()
    const { instructions } = connection
    return {
      tools: tools.map((tool) => tool.name),
      tokens: tools.reduce((sum, tool) => sum + toolTokens(tool), 0),
      findings: [
        ...(instructions === undefined ? [] : definitionFindings({ instructions })),
        ...tools.flatMap((tool) =>
          definitionFindings(tool).map((finding) => ({ ...finding, tool: safeText(tool.name, { limit: 120 }) })),
        ),
      ],
    }
  } catch (error) {
    if (io.signal.aborted) throw error
    // Messages may contain arguments and output of the server, and so secrets.
    const reason = limit.signal.aborted ? 'no reply in time' : toCommandError(error, name).reason.replaceAll('_', ' ')
    output.note(`Not checked: ${safeText(reason)}. Details: unfold doctor ${safeText(name)}`)
    return undefined
  }
}

const maxNames = 12

export function inspectionText(name: string, { tools, tokens }: Inspection): string {
  const names = tools.slice(0, maxNames).map((tool) => safeText(tool, { limit: 60 }))
  const more = tools.length > maxNames ? `, … (${tools.length - maxNames} more)` : ''
  const list = names.length === 0 ? '' : `: ${names.join(', ')}${more}`
  return `${safeText(name)} offers ${plural(tools.length, 'tool')}, ~${formatNumber(tokens)} tokens${list}`
}

export const findingText = ({ tool, path, description, excerpt }: Finding): string =>
  `${tool === undefined ? '' : `${tool}: `}${path} ${description}: "${excerpt}"`
