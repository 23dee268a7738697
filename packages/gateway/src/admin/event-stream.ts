import { Shares } from '@unfold-mcp/core'
import { logLevels, rankOf } from '../base/log.ts'
import { type Journal, type JournalEntry, recordTypes } from '../observability/journal.ts'
import type { Administrator } from './authorization.ts'
import { refusal, reply } from './reply.ts'

const keepAliveMs = 15_000
// A client that reads too slowly is disconnected; it can resume with Last-Event-ID.
const maxBufferedBytes = 1_048_576
const maxStreams = 64

interface StreamOptions {
  readonly isWanted: (entry: JournalEntry) => boolean
  readonly missed: readonly JournalEntry[]
  readonly from: Administrator
}

/** Server-sent events of the journal. */
export class EventStreams {
  readonly #journal: Journal
  readonly #open = new Map<() => void, Administrator>()
  readonly #slots = new Shares(() => maxStreams)

  constructor(journal: Journal) {
    this.#journal = journal
  }

  /** Opens a stream of the requested `types`, starting after the client's Last-Event-ID. */
  open(request: Request, from: Administrator): Response {
    const path = from.token === undefined ? [] : [from.token]
    if (!this.#slots.hasRoom(path))
      return refusal(503, `Too many event streams (${maxStreams}). Close one, or try again later.`, {
        'retry-after': '30',
      })
    const { searchParams } = new URL(request.url)
    const requested = searchParams.get('types')?.split(',')
    if (requested?.some((type) => !recordTypes.some((each) => each === type)))
      return refusal(400, `Unknown event type. Use one of: ${recordTypes.join(', ')}.`)
    // stderr is too noisy to send unless it was requested.
    const types = new Set(recordTypes.filter((type) => requested?.includes(type) ?? type !== 'stderr'))
    const minRank = rankOf(searchParams.get('level') ?? 'info')
    if (minRank === -1) return refusal(400, `Unknown log level. Use one of: ${logLevels.join(', ')}.`)
    const isWanted = (entry: JournalEntry): boolean =>
      types.has(entry.type) && !('level' in entry.data && rankOf(entry.data.level) < minRank)
    const lastId = request.headers.get('last-event-id')
    const missed = /^\d{1,15}$/u.test(lastId ?? '') ? this.#journal.after(Number(lastId), types) : []
    return this.#stream(request.signal, { isWanted, missed, from })
  }

  /** Ends the streams of tokens that were revoked or lost their role, and of browsers that signed out. */
  dismiss(): void {
    for (const [end, from] of [...this.#open]) if (!from.isStillAllowed()) end()
  }

  close(): void {
    for (const end of [...this.#open.keys()]) end()
  }

  #stream(disconnected: AbortSignal, { isWanted, missed, from }: StreamOptions): Response {
    const release = this.#slots.take(from.token === undefined ? [] : [from.token])
    const encoder = new TextEncoder()
    let end: () => void = () => undefined
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          const write = (text: string): void => {
            controller.enqueue(encoder.encode(text))
            if ((controller.desiredSize ?? 0) < 0) end()
          }
          // Sessions of a browser end by time, too.
          const keepAlive = setInterval(() => (from.isStillAllowed() ? write(': keepalive\n\n') : end()), keepAliveMs)
          keepAlive.unref()
          const unsubscribe = this.#journal.subscribe((entry) => {
            if (isWanted(entry)) write(eventOf(entry))
          })
          end = () => {
            if (!this.#open.delete(end)) return
            release?.()
            clearInterval(keepAlive)
            unsubscribe()
            disconnected.removeEventListener('abort', end)
            controller.close()
          }
          this.#open.set(end, from)
          disconnected.addEventListener('abort', end)
          write(': open\n\n')
          for (const entry of missed.filter(isWanted)) if (this.#open.has(end)) write(eventOf(entry))
        },
        cancel: () => end(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: maxBufferedBytes }),
    )
    return reply(body, { headers: { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' } })
  }
}

const eventOf = ({ id, type, at, data }: JournalEntry): string =>
  `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify({ at, ...data })}\n\n`
