import { dirname, resolve } from 'node:path'
import type { AuditFilter, AuditRecord, ChainPosition, ChainReport } from '@unfold-mcp/gateway/audit'
import { CommandError, exit, usageError } from '../../base/exit.ts'
import { fileExists } from '../../base/file-exists.ts'
import type { Io } from '../../base/io.ts'
import { requireConfig } from '../../gateway/config-file.ts'
import { adminRequest, findGateways } from '../../gateway/running.ts'
import { type Flags, type Invocation, isSet, numberOf, textOf } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'
import { formatTime } from '../../status/format.ts'
import { safeText } from '../../text/safe.ts'

const usage = 'unfold audit [<file>], unfold audit verify [<file>]'

export async function run({ positionals, flags }: Invocation, io: Io): Promise<number> {
  const [first, second, ...others] = positionals
  const isVerification = first === 'verify'
  if (others.length > 0 || (!isVerification && second !== undefined)) throw usageError(`Usage: ${usage}`)
  const output = new Output(io, flags)
  const path = await logPath(isVerification ? second : first, flags, io)
  return isVerification ? verify(path, flags, io, output) : show(path, flags, io, output)
}

/** The named file, or the one in the configuration. */
async function logPath(named: string | undefined, flags: Flags, io: Io): Promise<string> {
  if (named !== undefined) {
    const path = resolve(io.cwd, named)
    if (await fileExists(path)) return path
    throw usageError(`${path} does not exist. Usage: ${usage}`)
  }
  const file = await requireConfig(textOf(flags, 'config'), io)
  const { readConfig } = await import('@unfold-mcp/gateway/config')
  const { audit } = (await readConfig(file, io.env)).config
  if (audit !== undefined) return resolve(dirname(file), audit.path)
  throw new CommandError(
    exit.usage,
    'no_audit',
    `${file} has no audit log. Add "audit": { "path": "audit.jsonl" } and restart the gateway.`,
  )
}

async function show(path: string, flags: Flags, io: Io, output: Output): Promise<number> {
  const { AuditFollower, lastRecords, recordFilter } = await import('@unfold-mcp/gateway/audit')
  const limit = numberOf(flags, 'limit') ?? 100
  if (!Number.isInteger(limit) || limit < 1) throw usageError(`--limit must be a positive integer, not ${limit}.`)
  const matches = recordFilter(filterOf(flags))
  const isFollowed = isSet(flags, 'follow')
  // Opened before the records are read, so that none is missed in between.
  await using follower = isFollowed ? await AuditFollower.open(path) : undefined
  const records = await lastRecords(path, { limit, matches })
  if (output.isJson && !output.isJsonLines && !isFollowed) output.result('', { records })
  else for (const record of records) output.item(recordText(record, output), record)
  if (records.length === 0) output.note('No matching records.')
  if (follower === undefined) return exit.ok
  const shown = new Set(records.map(({ seq, previous }) => `${seq} ${previous}`))
  for await (const record of follower.records(io.signal))
    if (matches(record) && !shown.has(`${record.seq} ${record.previous}`)) output.item(recordText(record, output), record)
  return exit.interrupted
}

function filterOf(flags: Flags): AuditFilter {
  const since = textOf(flags, 'since')
  return {
    server: textOf(flags, 'server'),
    tool: textOf(flags, 'tool'),
    client: textOf(flags, 'client'),
    outcome: textOf(flags, 'outcome'),
    type: textOf(flags, 'type'),
    since: since === undefined ? undefined : timeOf(since),
  }
}

const units: { readonly [unit: string]: number } = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A date, or a duration before now such as `2h`. */
function timeOf(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,9})([smhd])$/u.exec(text) ?? []
  const time = count === '' ? Date.parse(text) : Date.now() - Number(count) * (units[unit] ?? 0)
  if (!Number.isNaN(time)) return time
  throw usageError(
    `--since must be a date such as 2026-01-31 or 2026-01-31T10:00Z, or a duration such as 30m, 2h or 7d, not "${text}".`,
  )
}

const ownFields = new Set(['seq', 'at', 'type', 'client', 'upstream', 'tool', 'outcome', 'ms', 'previous'])

function recordText(record: AuditRecord, { style }: Output): string {
  const { seq, at, type, client, upstream, tool, outcome, ms } = record
  const text = (value: unknown): string => safeText(String(value))
  const what = [upstream, tool].filter((each) => each !== undefined).map(text)
  const details = Object.entries(record).filter(([key]) => !ownFields.has(key))
  return [
    style.dim(`${at.slice(0, 10)} ${formatTime(at)} ${seq}`),
    style.cyan(text(type)),
    ...(what.length === 0 ? [] : [style.bold(what.join('/'))]),
    ...(outcome === undefined ? [] : [outcome === 'ok' ? text(outcome) : style.yellow(text(outcome))]),
    ...(ms === undefined ? [] : [`${text(ms)} ms`]),
    ...(client === undefined ? [] : [`(${text(client)})`]),
    ...details.map(([key, value]) => style.dim(`${text(key)}=${detailText(value)}`)),
  ].join(' ')
}

const detailText = (value: unknown): string =>
  safeText(typeof value === 'string' ? value.replace(/^([0-9a-f]{12})[0-9a-f]{52}$/u, '$1…') : JSON.stringify(value), {
    limit: 200,
  })

const attempts = 5
const retryMs = 200

async function verify(path: string, flags: Flags, io: Io, output: Output): Promise<number> {
  const { chainPaths, verifyChain } = await import('@unfold-mcp/gateway/audit')
  const isPart = /\.[1-9]\d*$/u.test(path)
  const chains = isPart ? [path] : await chainPaths(path)
  const reports: ChainReport[] = []
  for (const chain of chains) {
    let report: ChainReport
    for (let attempt = 0; ; attempt++) {
      const live = (await livePositions(flags, io)).get(chain)
      report = await verifyChain(chain, { live, isPart })
      // A running gateway may be in the middle of a line.
      if (live === undefined || report.problem?.kind !== 'incomplete' || attempt === attempts) break
      await new Promise((done) => setTimeout(done, retryMs))
    }
    reports.push(report)
  }
  if (reports.every(({ files, problem }) => files.length === 0 && problem === undefined))
    throw new CommandError(
      exit.failed,
      'no_records',
      `${path} does not exist: nothing has been recorded, or the file was removed.`,
    )
  const isIntact = reports.every(({ problem }) => problem === undefined)
  output.result(reports.map(reportText).join('\n'), { isIntact, chains: reports })
  if (!output.isJson) for (const note of reports.flatMap(({ notes }) => notes)) output.note(safeText(note))
  return isIntact ? exit.ok : exit.failed
}

function reportText({ path, files, records, first, last, problem }: ChainReport): string {
  if (problem !== undefined) {
    const place = problem.file === '' ? path : `${problem.file}:${problem.line}`
    return safeText(`${place}: ${problem.message}`)
  }
  if (last === undefined) return `${safeText(path)}: no records`
  const where = files.length === 1 ? '' : ` in ${files.length} files`
  return safeText(`${path}: ${records} records${where} are intact (${first} to ${last.seq}). Last hash: ${last.hash}`)
}

/** The last record of every running gateway, by file. */
async function livePositions(flags: Flags, io: Io): Promise<ReadonlyMap<string, ChainPosition>> {
  const positions = await Promise.all(
    (await findGateways({ ...(flags.config !== undefined && { config: flags.config }) }, io)).map(async (gateway) => {
      try {
        const response = await adminRequest(gateway, 'status', { signal: io.signal })
        const { audit } = (await response.json()) as { readonly audit?: ChainPosition & { readonly file: string } }
        return audit === undefined ? [] : [[audit.file, audit] as const]
      } catch {
        // A gateway that does not answer cannot be compared with.
        return []
      }
    }),
  )
  return new Map(positions.flat())
}
