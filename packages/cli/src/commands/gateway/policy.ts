import { dirname, resolve } from 'node:path'
import { isRecord, nearest, nearestHint } from '@unfold-mcp/core'
import type { ReadConfig, ToolReport } from '@unfold-mcp/gateway'
import type { ExplainedRule, Explanation, NamedTool, RecordedCall } from '@unfold-mcp/gateway/policy'
import { exit, usageError } from '../../base/exit.ts'
import type { Io } from '../../base/io.ts'
import { requireConfig } from '../../gateway/config-file.ts'
import { fromGateway } from '../../gateway/running.ts'
import { type Flags, type Invocation, textOf } from '../../grammar/grammar.ts'
import { subcommandOf } from '../../grammar/subcommand.ts'
import { Output } from '../../output/output.ts'
import { safeText } from '../../text/safe.ts'

type Subcommand = (values: readonly string[], flags: Flags, io: Io) => Promise<number>

const subcommands: { readonly [name: string]: Subcommand } = { test: explain, suggest }
const usage = `unfold policy test <tool> ['<arguments as JSON>'] [--token <name>] [--profile <name>], unfold policy suggest`

export async function run({ positionals, flags }: Invocation, io: Io): Promise<number> {
  const [name, ...values] = positionals
  return subcommandOf('policy', name, { subcommands, usage })(values, flags, io)
}

interface Configured {
  readonly file: string
  readonly config: ReadConfig['config']
}

async function configured(flags: Flags, io: Io): Promise<Configured> {
  const file = await requireConfig(textOf(flags, 'config'), io)
  const { readConfig } = await import('@unfold-mcp/gateway/config')
  return { file, config: (await readConfig(file, io.env)).config }
}

/** Explains the decision about a call, without making it. */
async function explain(values: readonly string[], flags: Flags, io: Io): Promise<number> {
  const output = new Output(io, flags)
  const [name, text = '{}', ...others] = values
  if (name === undefined || others.length > 0) throw usageError(`Usage: ${usage}`)
  const input = argumentsIn(text)
  const { file, config } = await configured(flags, io)
  const client = clientOf(config, flags)
  const reports = await fromGateway<ToolReport>(file, 'tools', io)
  const { namedTool, Policy } = await import('@unfold-mcp/gateway/policy')
  const report = reports?.find((each) => each.name === name)
  const tool = report === undefined ? namedTool(config, name) : { server: report.upstream, tool: report.tool }
  if (tool === undefined) throw unknownTool(name, config, reports)
  const policy = new Policy(config.policy ?? { default: 'allow', rules: [] }, dirname(file))
  const explanation = await policy.explain({ ...tool, client, input, definition: () => report })
  output.result(explanationText(tool, explanation, output), {
    ...tool,
    client,
    isDefinitionKnown: report !== undefined,
    ...explanation,
  })
  if (config.policy === undefined) output.note(`${safeText(file)} has no policy, so every call is allowed.`)
  else if (report === undefined)
    output.note(
      reports === undefined
        ? 'No gateway is running with this configuration, so the annotations of the tool are not known.'
        : 'The running gateway does not offer this tool, so its annotations are not known.',
    )
  return exit.ok
}

function argumentsIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (isRecord(value)) return value
  } catch {
    // Reported below.
  }
  throw usageError(`The arguments must be a JSON object such as '{"path":"/tmp/a"}', not ${safeText(text)}`)
}

function clientOf({ tokens, profiles }: ReadConfig['config'], flags: Flags) {
  const [token, named] = [textOf(flags, 'token'), textOf(flags, 'profile')]
  const record = tokens.find(({ name, role }) => name === token && role === undefined)
  if (token !== undefined && record === undefined)
    throw usageError(
      `There is no client token "${token}".${nearestHint(
        nearest(
          token,
          tokens.map(({ name }) => name),
        ),
      )}`,
    )
  const profile = named ?? record?.profile
  if (profile !== undefined && !Object.hasOwn(profiles, profile))
    throw usageError(`There is no profile "${profile}".${nearestHint(nearest(profile, Object.keys(profiles)))}`)
  return { ...(token !== undefined && { token }), ...(profile !== undefined && { profile }) }
}

function unknownTool(name: string, { mcpServers }: ReadConfig['config'], reports: readonly ToolReport[] | undefined): Error {
  const known = reports?.map((each) => each.name) ?? Object.keys(mcpServers).map((server) => `${server}__<tool>`)
  return usageError(
    `Unknown tool "${safeText(name)}". Use the name that clients see, such as server__tool.${nearestHint(nearest(name, known))}`,
  )
}

const effects = { allow: 'allowed', deny: 'denied', ask: 'asks a person' } as const
const outcomes = { yes: 'holds', no: 'does not hold', unknown: 'unknown' } as const

function explanationText({ server, tool }: NamedTool, { verdict, rules, isListed }: Explanation, { style }: Output): string {
  const { effect, rule = 'default', reason } = verdict
  return [
    ...rules.flatMap((each) => ruleLines(each, style)),
    `${style.bold(safeText(`${server}/${tool}`))}: ${style.bold(effects[effect])} by ${rule}${reason === undefined ? '' : `. Reason: ${safeText(reason)}`}`,
    ...(isListed ? [] : ['Denied with any arguments, so the tool is not listed.']),
  ].join('\n')
}

function ruleLines({ rule, effect, applies, conditions }: ExplainedRule, style: Output['style']): readonly string[] {
  // What cannot be determined permits nothing.
  const unknownMeans = effect === 'allow' ? 'does not hold' : 'holds'
  const lines = conditions.map(({ condition, outcome, detail }) => {
    const result = outcome === 'unknown' ? `${outcomes[outcome]}, which counts as "${unknownMeans}"` : outcomes[outcome]
    return `  ${condition} ${result} ${style.dim(`(${safeText(detail, { limit: 300 })})`)}`
  })
  return [`${rule} ${effect} ${applies ? style.green('applies') : style.dim('does not apply')}`, ...lines]
}

const maxRecords = 10_000

/** Proposes a policy from recorded calls. */
async function suggest(values: readonly string[], flags: Flags, io: Io): Promise<number> {
  const output = new Output(io, flags)
  if (values.length > 0) throw usageError(`Usage: ${usage}`)
  const { file, config } = await configured(flags, io)
  const { suggestPolicy, wasSent } = await import('@unfold-mcp/gateway/policy')
  const { calls, source } = await recordedCalls({ file, config }, io)
  const known = calls.filter((call) => wasSent(call) && Object.hasOwn(config.mcpServers, call.upstream))
  const policy = suggestPolicy(known)
  output.result(JSON.stringify({ policy }, undefined, 2), { source, calls: known.length, policy })
  output.note(
    `From ${known.length} recorded calls in ${source}. Tools that were not called are not in the list: review the rules before you add them to ${safeText(file)}.`,
  )
  return exit.ok
}

async function recordedCalls(
  { file, config }: Configured,
  io: Io,
): Promise<{ readonly calls: readonly RecordedCall[]; readonly source: string }> {
  if (config.audit !== undefined) {
    const { lastRecords } = await import('@unfold-mcp/gateway/audit')
    const path = resolve(dirname(file), config.audit.path)
    const records = await lastRecords(path, { limit: maxRecords, matches: ({ type }) => type === 'call' })
    return { calls: records as unknown as readonly RecordedCall[], source: 'the audit log' }
  }
  const calls = await fromGateway<RecordedCall>(file, 'calls?limit=1000', io)
  if (calls !== undefined) return { calls, source: 'the log of the running gateway, which has no arguments' }
  throw usageError(
    `There are no recorded calls: ${file} has no audit log, and no gateway is running with it. Add "audit": { "path": "audit.jsonl", "arguments": "full" }, or start the gateway and use it.`,
  )
}
