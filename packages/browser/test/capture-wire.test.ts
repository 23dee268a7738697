import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { RateLimiter } from '../src/capture/rate-limiter.ts'
import { cut } from '../src/capture/text.ts'
import type { Oversized } from '../src/capture/wire/inbox.ts'
import { pipeChannel } from '../src/capture/wire/pipe.ts'
import { webSocketChannel } from '../src/capture/wire/websocket.ts'
import { type EventSummary, Wire } from '../src/capture/wire/wire.ts'

const megabyte = 1024 * 1024

/** The messages that a channel emits. */
function collecting(): {
  readonly messages: string[]
  readonly large: Oversized[]
  readonly ends: string[]
  readonly sink: Parameters<ReturnType<typeof pipeChannel>['listen']>[0]
} {
  const messages: string[] = []
  const large: Oversized[] = []
  const ends: string[] = []
  return {
    messages,
    large,
    ends,
    sink: {
      message: (bytes) => messages.push(bytes.toString()),
      oversized: (message) => large.push(message),
      closed: (reason) => ends.push(reason),
    },
  }
}

/** The text, cut at these positions. */
function parts(bytes: Buffer, places: readonly number[]): readonly Buffer[] {
  const at = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b)
  return at.slice(1).map((end, i) => bytes.subarray(at[i], end))
}

describe('a pipe to a browser', () => {
  test('messages are the same regardless of chunk boundaries', async () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).map((value) => JSON.stringify({ method: value }))
    await fc.assert(
      fc.asyncProperty(fc.array(text, { maxLength: 20 }), fc.array(fc.nat(), { maxLength: 30 }), async (texts, places) => {
        const from = new PassThrough()
        const { messages, sink } = collecting()
        pipeChannel(new PassThrough(), from).listen(sink)
        for (const part of parts(Buffer.from(texts.map((each) => `${each}\0`).join('')), places)) from.write(part)
        from.end()
        await new Promise((resolve) => from.once('end', resolve))
        expect(messages).toEqual(texts)
      }),
      { numRuns: 100 },
    )
  })

  test('an oversized event is not buffered; its beginning and end are reported', async () => {
    const from = new PassThrough()
    const { messages, large, sink } = collecting()
    pipeChannel(new PassThrough(), from).listen(sink)
    from.write('{"method":"Runtime.consoleAPICalled","params":{"type":"log","value":"')
    for (let i = 0; i < 12; i++) from.write(Buffer.alloc(megabyte, 'x'))
    from.write('"},"sessionId":"ABC"}\0{"method":"next"}\0')
    await new Promise((resolve) => setImmediate(resolve))
    expect(messages).toEqual(['{"method":"next"}'])
    expect(large).toMatchObject([
      {
        head: expect.stringMatching(/^\{"method":"Runtime\.consoleAPICalled"/),
        tail: expect.stringMatching(/"sessionId":"ABC"\}$/),
      },
    ])
    expect(large[0]?.bytes).toBeGreaterThan(12 * megabyte)
  })

  test('a reply may be larger than an event', async () => {
    const from = new PassThrough()
    const { messages, sink } = collecting()
    pipeChannel(new PassThrough(), from).listen(sink)
    from.write('{"id":7,"result":"')
    for (let i = 0; i < 12; i++) from.write(Buffer.alloc(megabyte, 'x'))
    from.write('"}\0')
    await new Promise((resolve) => setImmediate(resolve))
    expect(messages[0]).toHaveLength(12 * megabyte + 20)
  })
})

describe('a connection shared with Playwright', () => {
  test('half a million messages pass quickly, and only admitted ones are parsed', async () => {
    const line = JSON.stringify({
      method: 'Runtime.consoleAPICalled',
      params: { type: 'log', args: [{ type: 'string', value: 'x'.repeat(300) }] },
      sessionId: 'A1',
    })
    const code = `const burst = ${JSON.stringify(line)}.concat('\\0').repeat(500)
      let left = 1000
      const more = () => { while (left-- > 0) if (!process.stdout.write(burst)) return process.stdout.once('drain', more); process.stdout.end('{"method":"The.end"}\\0') }
      more()`
    const child = spawn(process.execPath, ['-e', code], { stdio: ['pipe', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill())
    const wire = new Wire(pipeChannel(child.stdin, child.stdout))
    const gate = new RateLimiter({ count: 1_000, bytes: megabyte }, () => 0)
    const seen = { glimpses: 0, read: 0, forwarded: 0 }
    let last: EventSummary | undefined
    wire.transport.onmessage = () => {
      seen.forwarded += 1
    }
    const over = new Promise<void>((resolve) => {
      wire.tap({
        admits: (summary) => {
          if (summary.method === 'The.end') return true
          last = summary
          seen.glimpses += 1
          return gate.passes(summary.bytes)
        },
        event: (method) => {
          if (method === 'The.end') resolve()
          else seen.read += 1
          return method !== 'The.end'
        },
        oversized: () => undefined,
      })
    })
    await over
    await vi.waitUntil(() => seen.forwarded >= 1_000, { timeout: 120_000 })
    expect(seen).toEqual({ glimpses: 500_000, read: 1_000, forwarded: 1_000 })
    expect(gate.takeShut()).toBe(499_000)
    expect(last).toEqual({ method: 'Runtime.consoleAPICalled', type: 'log', session: 'A1', bytes: line.length })
  })

  test('responses to our commands reach us, and all others reach Playwright', async () => {
    const [to, from] = [new PassThrough(), new PassThrough()]
    const wire = new Wire(pipeChannel(to, from))
    const others: object[] = []
    wire.transport.onmessage = (message) => void others.push(message)
    const sent: { id: number; method: string; params: object }[] = []
    to.on('data', (chunk: Buffer) => {
      for (const text of chunk.toString().split('\0').filter(Boolean)) sent.push(JSON.parse(text) as (typeof sent)[number])
    })
    const version = wire.send('Browser.getVersion', undefined)
    wire.transport.send({ id: 1, method: 'Network.enable', params: {}, sessionId: 'S' })
    await new Promise((resolve) => setImmediate(resolve))
    from.write(
      `{"id":1,"result":{}}\0{"id":${sent[0]?.id},"result":{"product":"ours"}}\0not json\0{"method":"An.event","params":{}}\0`,
    )
    expect(await version).toEqual({ product: 'ours' })
    await vi.waitUntil(() => others.length > 1, { timeout: 120_000 })
    expect(others).toEqual([
      { id: 1, result: {} },
      { method: 'An.event', params: {} },
    ])
    expect(sent[1]?.params).toMatchObject({ maxResourceBufferSize: 4 * megabyte })
  })

  test('the effects of a response are complete before the next message is delivered, even from one write', async () => {
    const from = new PassThrough()
    const wire = new Wire(pipeChannel(new PassThrough(), from))
    const steps: string[] = []
    const over = new Promise<string | undefined>((resolve) => {
      wire.transport.onclose = resolve
    })
    const work = async ({ method = 'the answer' }: { readonly method?: string }): Promise<void> => {
      steps.push(method)
      // Like Playwright: several chained promises before it listens for more.
      for (let hop = 0; hop < 10; hop += 1) await Promise.resolve()
      steps.push(`done with ${method}`)
    }
    wire.transport.onmessage = (message) => void work(message)
    from.end('{"id":1,"result":{}}\0{"method":"An.event"}\0')
    expect(await over).toBe('the browser ended')
    expect(steps).toEqual(['the answer', 'done with the answer', 'An.event', 'done with An.event'])
  })

  test('pending commands fail when the connection closes', async () => {
    const from = new PassThrough()
    const wire = new Wire(pipeChannel(new PassThrough(), from))
    const reasons: (string | undefined)[] = []
    wire.transport.onclose = (reason) => reasons.push(reason)
    const failure = wire.send('Browser.getVersion', undefined).then(() => 'it did not fail', String)
    from.destroy()
    expect(await failure).toBe('Error: The connection to the browser is closed: the browser ended.')
    expect(await wire.closed).toBe('the browser ended')
    await vi.waitUntil(() => reasons.length > 0, { timeout: 120_000 })
    expect(reasons).toEqual(['the browser ended'])
    await expect(wire.send('Browser.getVersion', undefined)).rejects.toThrow('is closed')
  })
})

/** A server that accepts one WebSocket and returns its connection. */
async function webSocketServer(): Promise<{ readonly url: URL; readonly connected: Promise<Socket> }> {
  let connect: (socket: Socket) => void = () => undefined
  const connected = new Promise<Socket>((resolve) => {
    connect = resolve
  })
  const server = createServer((socket) => {
    socket.once('data', (request) => {
      const key = /sec-websocket-key: (.*)\r\n/i.exec(request.toString())?.[1] ?? ''
      const answer = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${answer}\r\n\r\n`,
      )
      connect(socket)
    })
    socket.on('error', () => undefined)
    onTestFinished(() => void socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { url: new URL(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/devtools`), connected }
}

function frame(payload: Buffer, { opcode = 1, isLast = true } = {}): Buffer {
  const { length } = payload
  const size =
    length < 126 ? Buffer.from([length]) : length < 65_536 ? Buffer.from([126, length >> 8, length & 255]) : Buffer.alloc(9)
  if (size.length === 9) {
    size[0] = 127
    size.writeBigUInt64BE(BigInt(length), 1)
  }
  return Buffer.concat([Buffer.from([(isLast ? 0x80 : 0) | opcode]), size, payload])
}

describe('a WebSocket to a browser', () => {
  test('messages are the same in one frame or many, regardless of chunk boundaries', async () => {
    const { url, connected } = await webSocketServer()
    const { messages, ends, sink } = collecting()
    const channel = await webSocketChannel(url, 5_000)
    channel.listen(sink)
    const socket = await connected
    const texts = ['{"id":1}', `{"id":2,"result":"${'ü'.repeat(200)}"}`, `{"id":3,"result":"${'z'.repeat(70_000)}"}`]
    const bytes = Buffer.concat([
      ...texts.map((text) => frame(Buffer.from(text))),
      frame(Buffer.from('{"id":'), { isLast: false }),
      frame(Buffer.from('are you there?'), { opcode: 9 }),
      frame(Buffer.from(''), { opcode: 0, isLast: false }),
      frame(Buffer.from('4}'), { opcode: 0 }),
    ])
    const received: Buffer[] = []
    socket.on('data', (chunk: Buffer) => received.push(chunk))
    for (const part of parts(bytes, [1, 3, 9, 11, 12, 14, 200, 500, 600, 70_000])) {
      socket.write(part)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    await expect.poll(() => messages).toEqual([...texts, '{"id":4}'])
    // A ping is answered with a pong that has the same payload, masked.
    await expect.poll(() => Buffer.concat(received)[0]).toBe(0x8a)
    socket.write(frame(Buffer.from([3, 232]), { opcode: 8 }))
    await expect.poll(() => ends).toEqual(['the browser closed the connection'])
  })

  test('sent messages arrive complete, masked as the protocol requires', async () => {
    const { url, connected } = await webSocketServer()
    const channel = await webSocketChannel(url, 5_000)
    channel.listen(collecting().sink)
    const socket = await connected
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    const text = JSON.stringify({ id: 1, params: 'ä'.repeat(50_000) })
    channel.send(text)
    const length = Buffer.byteLength(text)
    await expect.poll(() => Buffer.concat(chunks).length).toBe(length + 14)
    const bytes = Buffer.concat(chunks)
    expect([bytes[0], bytes[1], Number(bytes.readBigUInt64BE(2))]).toEqual([0x81, 0xff, length])
    const mask = bytes.subarray(10, 14)
    expect(Buffer.from(bytes.subarray(14).map((byte, i) => byte ^ (mask[i % 4] ?? 0))).toString()).toBe(text)
    channel.close()
    await new Promise((resolve) => socket.once('end', resolve))
  })

  test('a server that does not speak WebSocket is rejected', async () => {
    const { url, connected } = await webSocketServer()
    const { ends, sink } = collecting()
    const channel = await webSocketChannel(url, 5_000)
    channel.listen(sink)
    const socket = await connected
    socket.write(Buffer.from([0xf1, 0x05]))
    await expect.poll(() => ends).toEqual(['it sent a frame that no browser sends'])
  })
})

describe('the prefix of a text', () => {
  test('never exceeds the byte limit, is a prefix, and is the whole text if it fits', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 1, max: 80 }), (whole, max) => {
        const { text, isCut } = cut(whole, max)
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(max)
        expect(whole.startsWith(text)).toBe(true)
        expect(isCut).toBe(text !== whole)
        // Maximal: the next character would not fit.
        const next = String.fromCodePoint(whole.codePointAt(text.length) ?? 0)
        expect(!isCut || Buffer.byteLength(text + next) > max).toBe(true)
      }),
    )
  })
})

describe('a rate limiter', () => {
  test('admits a number per second, counts the rest, and opens again', () => {
    let now = 0
    const gate = new RateLimiter({ count: 3, bytes: 1_000 }, () => now)
    expect([1, 2, 3, 4, 5].map(() => gate.passes(1))).toEqual([true, true, true, false, false])
    now = 1_000
    expect(gate.passes(1)).toBe(true)
    expect([gate.takeShut(), gate.takeShut()]).toEqual([2, 0])
  })

  test('admits a single large message, and no other with it', () => {
    const gate = new RateLimiter({ count: 3, bytes: 1_000 }, () => 0)
    expect([gate.passes(5_000), gate.passes(1)]).toEqual([true, false])
  })
})
