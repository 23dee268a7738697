import type { Line } from './messages.ts'

export interface LineStreamOptions {
  /** Aborted when the other replica disconnects. */
  readonly disconnected: AbortSignal
  readonly heartbeatMs: number
}

/** Writes the lines of a reply. Lines with `isOptional` are dropped while the other replica reads too slowly. */
export interface LineWriter {
  write(line: Line, isOptional?: boolean): void
  end(): void
}

// The listener sends only server-sent events as they arrive.
export const eventHeaders = { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' }

export const eventOf = (line: Line): string => `data: ${JSON.stringify(line)}\n\n`

const maxBufferedBytes = 1_048_576

/** A reply of lines, with empty ones as signs of life. `start` gets the writer; `ended` is called once. */
export function lineStream(
  { disconnected, heartbeatMs }: LineStreamOptions,
  start: (writer: LineWriter) => void,
  ended: () => void,
): Response {
  const encoder = new TextEncoder()
  let end: () => void = () => undefined
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        let isEnded = false
        const write: LineWriter['write'] = (line, isOptional = false) => {
          if (isEnded || (isOptional && (controller.desiredSize ?? 0) < 0)) return
          controller.enqueue(encoder.encode(eventOf(line)))
        }
        const heartbeat = setInterval(() => write({}, true), heartbeatMs).unref()
        end = () => {
          if (isEnded) return
          isEnded = true
          clearInterval(heartbeat)
          disconnected.removeEventListener('abort', end)
          if (!disconnected.aborted) controller.close()
          ended()
        }
        disconnected.addEventListener('abort', end)
        start({ write, end })
      },
      cancel: () => end(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: maxBufferedBytes }),
  )
  return new Response(body, { headers: eventHeaders })
}
