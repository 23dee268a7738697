import { expect } from 'vitest'
import { resourceAgent } from '../../bench/src/hosts/agents/resource.ts'
import { path, tryPrompt, tryWish, wishes } from '../../bench/src/hosts/lab.ts'
import { lastTexts } from './received.ts'
import { scenario } from './scenario.ts'

scenario('an elicitation', async (driver) => {
  const { outcome, run } = await tryWish(driver, wishes.ask, { exposure: 'everything' })
  expect(outcome).toMatchObject({ reached: true })
  // No user is present; the test only shows that the request reached the host and a response came back.
  expect(lastTexts(run).join('\n')).toMatch(/The owner answered: (accept|decline|cancel)/u)
})

scenario('a resource', async (driver) => {
  const { run } = await tryWish(driver, wishes.read, { exposure: 'everything' }, () => resourceAgent('policy'))
  expect(lastTexts(run).join('\n')).toContain('Keep reports for ten years.')
})

scenario('a prompt', async (driver) => {
  const args = driver.usePrompt?.('files__review_file', path)
  expect(args).toBeDefined()
  const { turns } = await tryPrompt(driver, args ?? [])
  expect(turns).toHaveLength(1)
})
