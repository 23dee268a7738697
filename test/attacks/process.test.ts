import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { defineToolbox } from '@unfold-mcp/server'
import { testContext } from '@unfold-mcp/server/testing'
import { describe, expect, test, vi } from 'vitest'
import { post } from './raw.ts'
import { callTool, request, routing, textOf } from './sender.ts'

const program = fileURLToPath(new URL('server.mjs', import.meta.url))
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

async function started() {
  const child = spawn(process.execPath, [program, '--serve-http'], { stdio: ['ignore', 'ignore', 'pipe'] })
  let output = ''
  for await (const chunk of child.stderr) {
    output += String(chunk)
    const port = /Serving on http:\/\/127\.0\.0\.1:(\d+)\/mcp/u.exec(output)?.[1]
    if (port !== undefined) return { child, port: Number(port), [Symbol.asyncDispose]: async () => void child.kill('SIGKILL') }
  }
  throw new Error(`The server did not start: ${output}`)
}

describe('AT-I104: a server that receives a stop signal', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    'ends on %s with calls running and streams open, and exits cleanly',
    async (signal) => {
      await using served = await started()
      const { child, port } = served
      const busy = post(
        request('stateless', 'tools/call', { name: 'wait_deaf', arguments: { ms: 60_000 } }),
        routing('tools/call', { name: 'wait_deaf' }),
      )
      const listening = post(
        request('stateless', 'subscriptions/listen', { notifications: { toolsListChanged: true } }),
        routing('subscriptions/listen'),
      )
      const sockets = [...Array.from({ length: 100 }, () => busy), ...Array.from({ length: 50 }, () => listening)].map(
        ([piece]) => {
          const socket = connect(port, '127.0.0.1')
          socket.on('error', () => undefined).resume()
          socket.write(piece?.bytes ?? '')
          return socket
        },
      )
      const closed = Promise.all(sockets.map((socket) => once(socket, 'close')))
      await pause(200)
      expect(textOf((await callTool(port, 'ping'))?.messages[0])).toBe('pong')
      const exited = once(child, 'exit')
      child.kill(signal)
      expect(await exited).toEqual([0, null])
      await closed
    },
  )
})

describe('AT-I117: the error message of a tool', () => {
  test('is logged once, on one line, without control characters', async () => {
    const written = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    try {
      const toolbox = defineToolbox({ name: 'small', version: '1.0.0' }).tool('fail', {}, ({ text }) => {
        throw new Error(String(text))
      })
      await using context = await testContext(toolbox)
      const text = `\u001b[2J\n[unfold] all is well \u202e${'x'.repeat(10_000)}`
      for (let times = 0; times < 3; times++) await context.call('fail', { text })
      expect(written).toHaveBeenCalledTimes(1)
      const line = written.mock.calls.flat().join(' ')
      expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u)
      expect(line.length).toBeLessThan(1_000)
    } finally {
      written.mockRestore()
    }
  })
})
