import type { ClientError } from '../errors/errors.ts'

const ends = ['\n\n', '\n\r\n', '\r\r'].map((text) => Buffer.from(text))
const longestEnd = 3
const partBytes = 8_192

export interface Limits {
  /** How many bytes a message may have: the whole response, or one event of a stream of events. */
  readonly limit: number
  /** Called when one is larger; what it returns is what the reader gets. */
  readonly tooLarge: () => ClientError
  /** Told of the bytes as they come. */
  readonly count: (bytes: number) => void
}

/** The same response, of which no message is larger than allowed. */
export function limited(response: Response, { limit, tooLarge, count }: Limits): Response {
  if (response.body === null) return response
  const isEvents = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  let size = 0
  let before = Buffer.alloc(0)
  /** Whether an event ended in this part. */
  const measure = (part: Uint8Array): boolean => {
    const joined = Buffer.concat([before, part])
    const end = isEvents ? Math.max(...ends.map((each) => joined.lastIndexOf(each))) : -1
    size = end === -1 ? size + part.length : joined.length - end
    before = joined.subarray(1 - longestEnd)
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
        // A chunk may hold a thousand events, and nobody should wait until they are all dealt with.
        if (hasEvent && at + step < chunk.length) await new Promise((resolve) => setImmediate(resolve))
      }
    },
  })
  const { status, statusText, headers } = response
  return new Response(response.body.pipeThrough(meter), { status, statusText, headers })
}
