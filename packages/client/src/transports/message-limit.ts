import type { ClientError } from '../errors/errors.ts'

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

/** Limits the size of the messages in a response. */
export function limitMessages(response: Response, { limit, tooLarge, count }: Limits): Response {
  if (response.body === null) return response
  const isEvents = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  let size = 0
  let before = Buffer.alloc(0)
  /** Returns whether an event ended in this part. */
  const measure = (part: Uint8Array): boolean => {
    const joined = Buffer.concat([before, part])
    const end = isEvents ? Math.max(...eventEnds.map((each) => joined.lastIndexOf(each))) : -1
    size = end === -1 ? size + part.length : joined.length - end
    before = joined.subarray(1 - maxEndLength)
    return end !== -1
  }
  const meter = new TransformStream<Uint8Array, Uint8Array>({
    async transform(chunk, controller) {
      count(chunk.length)
      const step = isEvents ? partBytes : chunk.length
      for (let at = 0; at < chunk.length; at += step) {
        const part = chunk.subarray(at, at + step)
        const hasEvent = measure(part)
        if (size > limit) return controller.error(tooLarge())
        controller.enqueue(part)
        // A chunk may hold a thousand events and must not block the event loop.
        if (hasEvent && at + step < chunk.length) await new Promise((resolve) => setImmediate(resolve))
      }
    },
  })
  const { status, statusText, headers } = response
  return new Response(response.body.pipeThrough(meter), { status, statusText, headers })
}
