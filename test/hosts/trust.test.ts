import { afterAll, beforeAll, expect } from 'vitest'
import { injected, secret } from '../../bench/src/hosts/servers/replies.ts'
import { reason, TrustLab } from '../../bench/src/hosts/trust-lab.ts'
import { scenario } from './scenario.ts'

let lab: TrustLab

beforeAll(async () => {
  lab = await TrustLab.open()
})
afterAll(() => lab[Symbol.asyncDispose]())

/** What the model received for the only call. */
function only(replies: readonly string[]): string {
  expect(replies).toHaveLength(1)
  return replies[0] ?? ''
}

// Without a terminal, hosts that declare forms decline them by themselves; their calls wait in the queue like those of other hosts.
scenario('denied, approved and refused calls, and checked results', async (driver) => {
  const { replies, executed } = await lab.run(driver, {
    answer: ({ tool }) => (tool === 'move_file' ? 'approve' : 'deny'),
  })
  expect(executed).toEqual(['move_file', 'list_directory', 'directory_tree', 'get_issue'])

  const denied = only(replies.denied)
  expect(denied).toContain('was not called: the rule policy.rules[0] denies it. Do not repeat it with these arguments.')
  expect(denied).toContain(reason)
  expect(only(replies.asked)).toContain('move_file: done')
  expect(only(replies.refused)).toContain('requires approval, and the user denied it. Do not repeat the call.')

  const masked = only(replies.masked)
  expect(masked).toContain('.env: [secret]***')
  expect(masked).not.toContain(secret)
  // A flag is for the operator: the model gets the text as it is.
  const flagged = only(replies.flagged)
  expect(flagged).toContain(injected)
  expect(flagged.includes('tells the model to ignore its instructions')).toBe(driver.showsMeta === true)
  const blocked = only(replies.blocked)
  expect(blocked).toContain('The result was blocked: content[0].text tells the model to ignore its instructions.')
  expect(blocked).toContain('do not repeat it')
  expect(blocked).not.toContain(injected)
})
