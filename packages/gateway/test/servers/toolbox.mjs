// A server of the library over stdio, whose tools can be changed by calling them.
import { spawn } from 'node:child_process'
import { defineToolbox, serveStdio, ToolRegistry } from '@unfold-mcp/server'
import { z } from 'zod'

const [...manners] = process.argv.slice(2)
const registry = new ToolRegistry()
const removers = new Map()
const put = (name, description = `Does ${name}`) => {
  removers.get(name)?.()
  removers.set(
    name,
    registry.register(name, { description }, () => name),
  )
}
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

if (manners.includes('parent')) process.stderr.write(`grandchild ${spawn('sleep', ['600'], { stdio: 'ignore' }).pid}\n`)
if (manners.includes('slow')) await pause(3_000)
if (manners.includes('flapping')) setTimeout(() => process.exit(4), 200)

const named = z.object({ name: z.string() })
const toolbox = defineToolbox({ name: 'changing', version: '1.0.0', exposure: 'everything', report: () => undefined })
  .use(registry)
  .tool('pid', { description: 'The number of the process' }, () => String(process.pid))
  .tool(
    'put',
    { description: 'Adds or changes a tool', inputSchema: named.extend({ description: z.string().optional() }) },
    (input) => {
      put(input.name, input.description)
      return 'put'
    },
  )
  .tool('remove', { description: 'Removes a tool', inputSchema: named }, ({ name }) => {
    removers.get(name)?.()
    removers.delete(name)
    return 'removed'
  })
  .tool('burst', { description: 'Many changes', inputSchema: z.object({ times: z.number() }) }, ({ times }) => {
    for (let time = 0; time < times; time++) put(`burst_${time}`)
    return 'done'
  })
  .tool('wait', { description: 'Never answers' }, (_, { signal }) => {
    process.stderr.write('waiting\n')
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        process.stderr.write('aborted\n')
        reject(new Error('aborted'))
      })
    })
  })
  .tool(
    'slowly',
    { description: 'Reports progress', inputSchema: z.object({ ms: z.number().default(20) }) },
    async ({ ms }, ctx) => {
      for (const step of [1, 2, 3]) {
        await ctx.progress(step, 3)
        await pause(ms)
      }
      return 'done'
    },
  )

serveStdio(toolbox)
