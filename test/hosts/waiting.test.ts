import { describe, expect, test } from 'vitest'
import { chainAgent } from '../../bench/src/hosts/agents/chain.ts'
import { claudeCode } from '../../bench/src/hosts/drivers/claude-code.ts'
import { continueCli } from '../../bench/src/hosts/drivers/continue.ts'
import { commandOf, fullTitle } from '../../bench/src/hosts/installed.ts'
import type { Answer } from '../../bench/src/hosts/reviewer.ts'
import { guardedCalls, TrustLab } from '../../bench/src/hosts/trust-lab.ts'
import { deferred } from '../deferred.ts'

// Hosts give up on a call after 60 seconds, unless they asked for progress and get it. Continue does not ask for it. Both tests
// mostly wait.
describe.concurrent('Hosts: a call that waits for approval', () => {
  const present = [claudeCode, continueCli].filter((driver) => commandOf(driver) !== undefined)

  test.skipIf(present.length === 0)(`${present.map(fullTitle).join(' and ')}: nobody answers in time`, async () => {
    await using lab = await TrustLab.open({ approvalTimeoutMs: 2_000 })
    for (const driver of present) {
      const { replies, executed } = await lab.run(driver, { agent: chainAgent([guardedCalls.asked]) })
      expect(executed).toEqual([])
      expect(replies.asked).toEqual([
        expect.stringMatching(
          /nobody approved it in time\. Ask the user to run \\?"unfold approvals --watch\\?", then call it again/u,
        ),
      ])
    }
  })

  test.skipIf(!present.includes(continueCli))(
    `${fullTitle(continueCli)}: the model calls again and gets the result`,
    async () => {
      await using lab = await TrustLab.open()
      const chain = chainAgent([{ ...guardedCalls.asked, expect: 'move_file: done' }])
      const replied = deferred()
      const { replies, executed } = await lab.run(continueCli, {
        agent: (request, turn) => {
          if (turn === 1) replied.resolve()
          return chain(request, turn)
        },
        answer: (): Promise<Answer> => replied.promise.then(() => 'approve'),
      })
      expect(replies.asked).toEqual([
        expect.stringMatching(
          /waits for the approval of a person\. Ask the user to run \\?"unfold approvals\\?", then call it again/u,
        ),
        expect.stringContaining('move_file: done'),
      ])
      expect(executed).toEqual(['move_file'])
    },
  )
})
