import { type EventSourceMessage, EventSourceParserStream } from 'eventsource-parser/stream'
import { exit, usageError } from '../../base/exit.ts'
import type { Io } from '../../base/io.ts'
import { logLevel } from '../../gateway/log.ts'
import { poll } from '../../gateway/poll.ts'
import { adminRequest, requireGateway, requireServer } from '../../gateway/running.ts'
import { type Invocation, isSet, numberOf, optionalPositional, textOf } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'
import { formatTime } from '../../status/format.ts'
import { safeText } from '../../text/safe.ts'

interface LogLine {
  readonly id?: number
  readonly at: string
  readonly level: string
  readonly message: string
  readonly upstream?: string
}

interface StderrLine {
  readonly id?: number
  readonly at: string
  readonly upstream: string
  readonly line: string
}

const retryMs = 500

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const { flags } = invocation
  const output = new Output(io, flags)
  const level = logLevel(flags, 'level')
  const limit = numberOf(flags, 'limit') ?? 100
  if (!Number.isInteger(limit) || limit < 1) throw usageError(`--limit must be a positive integer, not ${limit}.`)
  const upstream = optionalPositional(invocation) ?? textOf(flags, 'upstream')
  const isStderr = isSet(flags, 'stderr')
  if (isStderr && level !== undefined) throw usageError('--stderr and --level cannot be combined.')
  const kind = isStderr ? { route: 'stderr', type: 'stderr' } : { route: 'logs', type: 'log' }
  const text = (line: LogLine | StderrLine): string => ('line' in line ? stderrText(line, output) : lineText(line, output))
  const gateway = await requireGateway(flags, io, output)
  const query = new URLSearchParams({
    limit: String(limit),
    ...(level !== undefined && { level }),
    ...(upstream !== undefined && { upstream }),
  })
  const { signal } = io
  const response = await adminRequest(gateway, `${kind.route}?${query.toString()}`, { signal })
  const lines = (await response.json()) as readonly (LogLine | StderrLine)[]
  const isFollowed = isSet(flags, 'follow')
  if (output.isJson && !output.isJsonLines && !isFollowed) output.result('', { lines })
  else for (const line of lines) output.item(text(line), line)
  // A removed server may still have lines.
  if (upstream !== undefined && lines.length === 0) await requireServer(upstream, gateway, signal)
  if (lines.length === 0) output.note(isStderr ? 'No stderr output.' : 'No log lines.')
  if (!isFollowed) return exit.ok
  const follow = new URLSearchParams({ types: kind.type, ...(level !== undefined && { level }) })
  let last = String(lines.at(-1)?.id ?? 0)
  const stream = async (): Promise<void> => {
    const events = await adminRequest(gateway, `events?${follow.toString()}`, { signal, headers: { 'last-event-id': last } })
    for await (const { id = '', data } of untilBroken(events)) {
      last = id
      const line = JSON.parse(data) as LogLine | StderrLine
      if (upstream === undefined || line.upstream === upstream) output.item(text(line), { id: Number(id), ...line })
    }
  }
  return poll(stream, { signal, output, intervalMs: retryMs })
}

// Events are log lines; a longer one is not from a gateway.
const maxBufferSize = 4_000_000

// After a broken stream, polling resumes from the last event or detects that the gateway has stopped.
async function* untilBroken({ body }: Response): AsyncGenerator<EventSourceMessage> {
  if (body === null) return
  try {
    yield* body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream({ maxBufferSize }))
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
  }
}

const stderrText = ({ at, upstream, line }: StderrLine, { style }: Output): string =>
  `${style.dim(formatTime(at))} ${style.bold(safeText(upstream))} ${safeText(line, { limit: 2_000 })}`

function lineText({ at, level, message, upstream }: LogLine, { style }: Output): string {
  const paint = { debug: style.dim, info: style.cyan, warn: style.yellow, error: style.red }[level] ?? style.dim
  const who = upstream === undefined ? '' : `${style.bold(safeText(upstream))} `
  return `${style.dim(formatTime(at))} ${paint(level.padEnd(5))} ${who}${safeText(message, { limit: 2_000 })}`
}
