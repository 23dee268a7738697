// A server with misbehaving tools, for attacks over standard input and output, with --http on a free port, or with --serve-http
// through `serve`. It sends its address and, on request, its health to its parent.
import { ProtocolError } from '@modelcontextprotocol/server'
import { defineToolbox, listen, serve } from '@unfold-mcp/server'
import { z } from 'zod'

const health = { unhandled: [], aborted: 0, errors: 0 }
process.on('unhandledRejection', (error) => health.unhandled.push(String(error)))
process.on('uncaughtException', (error) => health.unhandled.push(String(error)))

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const cyclic = {}
cyclic.self = cyclic

const toolbox = defineToolbox({
  name: 'target',
  version: '1.0.0',
  groups: {
    files: { description: 'Files' },
    cloud: { description: 'Clouds' },
    aws: { description: 'One cloud', parent: 'cloud' },
    games: { description: 'Games' },
  },
  quota: { groups: 2, whenFull: 'refuse' },
  report: () => undefined,
})

toolbox
  .tool('ping', { description: 'Answers' }, () => 'pong')
  .tool('echo', { description: 'Says what it was given' }, (input) => JSON.stringify(input))
  .tool('read_file', { group: 'files', inputSchema: z.object({ path: z.string() }) }, ({ path }) => path)
  .tool('buckets', { group: 'aws' }, () => 'none')
  .tool('chess', { group: 'games' }, () => 'e4')
  .tool(
    'measure',
    { inputSchema: z.object({ name: z.string(), size: z.number().int(), tags: z.array(z.string()) }) },
    ({ name }) => name,
  )
  .tool(
    'weigh',
    {
      inputSchema: {
        type: 'object',
        properties: { name: { type: 'string' }, size: { type: 'integer' }, unit: { enum: ['g', 'kg'] } },
        required: ['name', 'size'],
        additionalProperties: false,
      },
    },
    ({ name }) => name,
  )
  .tool(
    'route',
    {
      aliases: ['old_route'],
      inputSchema: {
        type: 'object',
        properties: {
          region: { type: 'string', 'x-mcp-header': 'Region' },
          options: { type: 'object', properties: { retries: { type: 'integer', 'x-mcp-header': 'Retries' } } },
        },
      },
    },
    ({ region }) => `via ${region}`,
  )
  .tool(
    'hidden_route',
    {
      group: 'files',
      inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
    },
    () => 'hidden',
  )
  .tool('wait', { inputSchema: z.object({ ms: z.number() }) }, ({ ms }, ctx) => {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => resolve(`waited ${ms}`), ms)
      ctx.signal.addEventListener('abort', () => {
        health.aborted++
        clearTimeout(timer)
        reject(ctx.signal.reason)
      })
    })
  })
  .tool('wait_deaf', { inputSchema: z.object({ ms: z.number() }) }, ({ ms }) => wait(ms))

const thrown = {
  error: () => new Error('It broke'),
  string: () => 'It broke',
  undefined: () => undefined,
  null: () => null,
  symbol: () => Symbol('It broke'),
  bare: () => Object.create(null),
  huge: () => new Error('It broke '.repeat(1_000_000)),
  protocol: () => new ProtocolError(-32_050, 'It broke', { size: 5n }),
  numeric: () => Object.assign(new Error('It broke'), { message: 5 }),
  trap: () =>
    Object.defineProperty(new Error('It broke'), 'message', {
      get() {
        throw new Error('again')
      },
    }),
}
for (const [name, make] of Object.entries(thrown)) {
  toolbox.tool(`throw_${name}`, {}, () => {
    throw make()
  })
}

const garbage = {
  number: () => 5,
  boolean: () => true,
  function: () => () => undefined,
  bigint: () => 5n,
  symbol: () => Symbol('garbage'),
  cyclic: () => cyclic,
  object_bigint: () => ({ size: 5n }),
  mixed_array: () => [1, 2, 3],
  date: () => new Date(0),
  content_bigint: () => ({ content: [{ type: 'text', text: 'x', size: 5n }] }),
  content_cyclic: () => ({ content: [{ type: 'text', text: 'x', _meta: cyclic }] }),
  content_function: () => ({ content: [{ type: 'text', text: () => 'x' }] }),
  content_string: () => ({ content: 'text' }),
  block_without_text: () => [{ type: 'text' }],
  block_of_no_type: () => [{ type: 'hologram', text: 'x' }],
  block_image_without_data: () => [{ type: 'image', data: 5, mimeType: 'image/png' }],
  structured_bigint: () => ({ content: [], structuredContent: { size: 5n } }),
  is_error_text: () => ({ content: [], isError: 'yes' }),
  meta_text: () => ({ content: [], _meta: 'x' }),
  to_json_throws: () => ({
    toJSON() {
      throw new Error('no')
    },
  }),
  proxy: () =>
    new Proxy(
      {},
      {
        get() {
          throw new Error('no')
        },
        has() {
          throw new Error('no')
        },
      },
    ),
}
for (const [name, make] of Object.entries(garbage)) toolbox.tool(`give_${name}`, {}, make)

toolbox
  .tool('give_50mb', {}, () => 'x'.repeat(50 * 1024 * 1024))
  .tool('hang', { timeoutMs: 150 }, () => new Promise(() => undefined))
  .tool('reject_late', { timeoutMs: 50 }, async () => {
    await wait(120)
    throw new Error('too late')
  })

const http = process.argv.includes('--http')
const listening = http
  ? await listen(toolbox, {
      port: 0,
      onerror: () => health.errors++,
    })
  : undefined

process.on('message', () => {
  global.gc?.()
  const { rss, heapUsed } = process.memoryUsage()
  const polluted = Object.keys(Object.prototype).length > 0 || {}.polluted !== undefined
  process.send?.({ ...health, rss, heapUsed, polluted, sessions: listening?.handler.sessionCount ?? 0 })
})
// The IPC channel must not keep the server alive.
process.channel?.unref()
process.send?.({ url: listening?.url })
if (!http) await serve(toolbox, { argv: process.argv.includes('--serve-http') ? ['--http', '0'] : [] })
