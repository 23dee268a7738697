import { HttpConnection } from './http.ts'
import { changed, cutter, initializeParams, Pending, type Wire } from './wire.ts'

/** A client of the HTTP+SSE transport that preceded Streamable HTTP: responses arrive on the stream. */
export async function sseWire(address: string): Promise<Wire> {
  const url = new URL(address)
  const [asking, listening] = [new HttpConnection(url), new HttpConnection(url)]
  const pending = new Pending()
  let tellPath: (path: string) => void = () => undefined
  const endpoint = new Promise<string>((resolve) => {
    tellPath = resolve
  })
  let path = ''
  const wire: Wire = {
    async ask(method, params = {}) {
      const { id, answer } = pending.begin()
      answer.catch(() => undefined)
      await asking.post(path, '', JSON.stringify({ jsonrpc: '2.0', id, method, params }))
      return answer
    },
    noticed: () => undefined,
    async [Symbol.asyncDispose]() {
      listening.close()
      asking.close()
      pending.fail(new Error('The client is closed.'))
    },
  }
  try {
    await listening.listen(
      '',
      cutter('\n\n', (event) => {
        if (event.subarray(0, 16).includes('endpoint')) tellPath(/data: *(\S*)/u.exec(event.toString())?.[1] ?? '')
        else if (!pending.settle(event) && event.includes(changed)) wire.noticed()
      }),
    )
    const { pathname, search } = new URL(await endpoint, url)
    path = `${pathname}${search}`
    await wire.ask('initialize', initializeParams)
    await asking.post(path, '', JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }))
    return wire
  } catch (error) {
    await wire[Symbol.asyncDispose]()
    throw error
  }
}
