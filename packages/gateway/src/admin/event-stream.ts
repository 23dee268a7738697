import { logLevels, rankOf } from '../base/log.ts'
import { type Journal, type JournalEntry, recordTypes } from '../observability/journal.ts'
import { refusal, reply } from './reply.ts'

const keepAliveMs = 15_000
// Whoever reads more slowly than things happen is let go, and may come back to where it was.
const maxBufferedBytes = 1_048_576
const maxStreams = 64

/** What happens in a gateway, as it happens, for those who ask for it. */
export class EventStreams {
  readonly #journal: Journal
  readonly #open = new Set<() => void>()

  constructor(journal: Journal) {
    this.#journal = journal
  }

  /** A stream of events: those of `types`, beginning after the one that the client saw last. */
  answer(request: Request): Response {
    if (this.#open.size >= maxStreams)
      return refusal(503, `There are ${maxStreams} streams of events already. Close one, or try again later.`, {
        'retry-after': '30',
      })
    const { searchParams } = new URL(request.url)
    const asked = searchParams.get('types')?.split(',')
    const strange = asked?.find((type) => !recordTypes.some((each) => each === type))
    if (strange !== undefined) return refusal(400, `There are no such events. There are ${recordTypes.join(', ')}.`)
    // What servers write to standard error is too much for whoever did not ask for it.
    const types = new Set(recordTypes.filter((type) => asked?.includes(type) ?? type !== 'stderr'))
    const level = searchParams.get('level') ?? 'info'
    const from = rankOf(level)
    if (from === -1) return refusal(400, `There is no such level. There are ${logLevels.join(', ')}.`)
    const isWanted = (entry: JournalEntry): boolean =>
      types.has(entry.type) && !('level' in entry.data && rankOf(entry.data.level) < from)
    const seen = request.headers.get('last-event-id')
    const missed = /^\d{1,15}$/u.test(seen ?? '') ? this.#journal.after(Number(seen), types) : []
    return this.#stream(request.signal, { isWanted, missed })
  }

  close(): void {
    for (const end of [...this.#open]) end()
  }

  #stream(
    gone: AbortSignal,
    { isWanted, missed }: { readonly isWanted: (entry: JournalEntry) => boolean; readonly missed: readonly JournalEntry[] },
  ): Response {
    const encoder = new TextEncoder()
    let end: () => void = () => undefined
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          const write = (text: string): void => {
            controller.enqueue(encoder.encode(text))
            if ((controller.desiredSize ?? 0) < 0) end()
          }
          const keepAlive = setInterval(() => write(': keepalive\n\n'), keepAliveMs)
          keepAlive.unref()
          const stop = this.#journal.subscribe((entry) => {
            if (isWanted(entry)) write(eventOf(entry))
          })
          end = () => {
            if (!this.#open.delete(end)) return
            clearInterval(keepAlive)
            stop()
            gone.removeEventListener('abort', end)
            controller.close()
          }
          this.#open.add(end)
          gone.addEventListener('abort', end)
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
