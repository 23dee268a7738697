import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { scriptHandler, statelessCaller, textOf } from '../../../test/script-client.ts'
import { defineToolbox } from '../../toolbox.ts'
import type { Handler } from '../../transports/handler.ts'

let handler: Handler
const created: string[] = []

const toolbox = defineToolbox({ name: 'shop', version: '1.0.0', exposure: 'code' })
  .tool('read', { inputSchema: z.object({ id: z.number() }), annotations: { readOnlyHint: true } }, ({ id }) => ({ id, name: `item ${id}` }))
  .tool('create', { inputSchema: z.object({ title: z.string() }) }, ({ title }) => {
    created.push(title)
    return { title }
  })

beforeAll(() => {
  handler = scriptHandler(toolbox)
})
afterAll(async () => {
  await handler.close()
  await toolbox.close()
})

test('smoke', async () => {
  const call = statelessCaller(handler)
  const one = await call('run_code', { code: 'const r = await tools.read({ id: 4 }); return r' })
  console.log(JSON.stringify(one))
  const two = await call('run_code', { code: 'await tools.create({ title: "a" })\nconsole.log("x")\nreturn 3' })
  console.log(JSON.stringify(two).slice(0, 1500))
  const again = await call('run_code', { code: 'await tools.create({ title: "a" })\nconsole.log("x")\nreturn 3' }, { requestState: two.requestState, inputResponses: { confirm: { action: 'accept', content: { decision: 'Run these calls' } } } })
  console.log(textOf(again), created)
})
