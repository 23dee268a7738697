import type { ClientError } from '../errors/errors.ts'
import { type BodyChunks, bodyChunks } from './body-chunks.ts'

const eventEnds = ['\n\n', '\n\r\n', '\r\r'].map((text) => Buffer.from(text))
const maxEndLength = 3
const partBytes = 8_192

export interface Limits {
  /** Maximum bytes of a message: the whole response, or one event of a stream. */
  readonly limit: number
  /** Creates the error for a larger message. */
  readonly tooLarge: () => ClientError
  /** Called with the size of each chunk. */
  readonly count: (bytes: number) => void
}

export const isEventStream = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') === true

/** Limits the size of the messages in a response. `wrap` may replace the chunks of its body. */
export function limitMessages(
  response: Response,
  { limit, tooLarge, count }: Limits,
  wrap: (body: ReadableStream<Uint8Array>) => BodyChunks = bodyChunks,
): Response {
  if (response.body === null) return response
  const isEvents = isEventStream(response)
  const chunks = wrap(response.body)
  let size = 0
  let before = Buffer.alloc(0)
  let rest: Uint8Array = before
  let hasEvent = false
  /** Returns whether an event ended in this part. */
  const measure = (part: Uint8Array): boolean => {
    if (!isEvents) {
      size += part.length
      return false
    }
    const joined = Buffer.concat([before, part])
    const end = Math.max(...eventEnds.map((each) => joined.lastIndexOf(each)))
    size = end === -1 ? size + part.length : joined.length - end
    before = joined.subarray(1 - maxEndLength)
    return end !== -1
  }
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (rest.length === 0) {
          const chunk = await chunks.next()
          if (chunk === undefined) return controller.close()
          count(chunk.length)
          rest = chunk
        } else if (hasEvent) {
          // A chunk may hold a thousand events and must not block the event loop.
          await new Promise((resolve) => setImmediate(resolve))
        }
        const part = isEvents ? rest.subarray(0, partBytes) : rest
        rest = rest.subarray(part.length)
        hasEvent = measure(part)
        if (size <= limit) return controller.enqueue(part)
        const failure = tooLarge()
        controller.error(failure)
        await chunks.cancel(failure).catch(() => undefined)
      },
      cancel: (reason) => chunks.cancel(reason),
    },
    { highWaterMark: 0 },
  )
  const { status, statusText, headers } = response
  return new Response(body, { status, statusText, headers })
}
