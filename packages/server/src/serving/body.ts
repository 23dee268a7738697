type Body = ReadableStream<Uint8Array<ArrayBuffer>>

/**
 * The body in one piece when the first thing in it is also the last, as in the answer to an ordinary call: it can then be
 * sent in one packet. Else a stream of all of it. Nobody waits any longer once `gone` is aborted.
 */
export async function wholeOrStream(body: Body, gone: AbortSignal): Promise<Uint8Array<ArrayBuffer> | Body> {
  const reader = body.getReader()
  const cancel = (): void => void reader.cancel()
  gone.addEventListener('abort', cancel)
  if (gone.aborted) cancel()
  const first = await reader.read().finally(() => gone.removeEventListener('abort', cancel))
  if (first.done) return new Uint8Array()
  const second = reader.read()
  // A read of a stream that has ended is over at once, and so wins this race.
  const isAll = (await Promise.race([second, undefined]))?.done === true
  if (isAll) return first.value
  const ahead = [Promise.resolve(first), second]
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await (ahead.shift() ?? reader.read())
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
}
