import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chainAgent } from '../../bench/src/hosts/agents/chain.ts'
import type { Driver } from '../../bench/src/hosts/drivers/driver.ts'
import { putFile } from '../../bench/src/hosts/drivers/files.ts'
import { drivers } from '../../bench/src/hosts/drivers/index.ts'
import { commandOf, fullTitle } from '../../bench/src/hosts/installed.ts'
import { prompt } from '../../bench/src/hosts/lab.ts'
import { guardedCalls, TrustLab, type TrustRunOptions } from '../../bench/src/hosts/trust-lab.ts'
import { keys, personAt } from '../../packages/cli/test/terminal.ts'
import { deferred } from '../deferred.ts'

// A person at a terminal answers the forms of hosts that have them: allows moving, and closes the form about copying.

/** What the person waits for, and the key that is pressed then. */
type Step = readonly [seen: RegExp, key: string]

// Hosts move the cursor instead of printing a space, or a letter that is already there.
const formAbout = (tool: string): RegExp => new RegExp(`files,.{0,7}${tool}`, 'u')
const [moving, copying] = [formAbout('move_file'), formAbout('copy_file')]
// Longer than a host without a user takes to decline.
const readingMs = 1_500

interface Dialog {
  readonly args: readonly string[]
  readonly steps: readonly Step[]
  readonly prepare?: Driver['prepare']
}

const claude: Dialog = {
  // A prompt in the arguments is sent before servers are connected.
  args: ['--dangerously-skip-permissions'],
  // Without the question whether the folder is trusted.
  prepare: ({ home, project }) =>
    putFile(join(home, '.claude.json'), {
      hasCompletedOnboarding: true,
      bypassPermissionsModeAccepted: true,
      customApiKeyResponses: { approved: ['lab'], rejected: [] },
      projects: { [project]: { hasTrustDialogAccepted: true } },
    }),
  steps: [
    [/bypass *permissions *on/u, prompt],
    [/Lab *task *4711/u, keys.enter],
    [moving, '\u001b[C'],
    [/Deny/u, keys.enter],
    [/Decision/u, keys.enter],
    [copying, keys.escape],
  ],
}

// It also asks by itself before each call of an MCP tool.
const codexAsks = (tool: string): Step => [
  new RegExp(`Allow *the *unfold *MCP *server *to *run *tool *"files__${tool}"`, 'u'),
  keys.enter,
]

const dialogs: { readonly [id: string]: Dialog } = {
  'claude-code': claude,
  codex: {
    args: ['--ask-for-approval', 'on-request', '--sandbox', 'danger-full-access', prompt],
    steps: [codexAsks('move_file'), [moving, keys.enter], codexAsks('copy_file'), [copying, keys.escape]],
  },
  'copilot-cli': {
    args: ['-i', prompt, '--allow-all-tools', '--no-color'],
    steps: [
      [/Do *you *trust/u, keys.enter],
      [moving, keys.enter],
      [copying, keys.escape],
    ],
  },
}

/** Runs the host in a terminal until its model has finished. */
function atTerminal({ args, steps }: Dialog): TrustRunOptions {
  const finished = deferred()
  const chain = chainAgent([guardedCalls.asked, guardedCalls.refused])
  return {
    args,
    agent: async (request, turn) => {
      const action = await chain(request, turn)
      if (action.kind === 'say') finished.resolve()
      return action
    },
    launch: async (command, { env, cwd }) => {
      await using user = personAt(command, { env, cwd, columns: 120 })
      for (const [seen, key] of steps) {
        await user.sees(seen)
        await pause(readingMs)
        user.types(key)
      }
      await finished.promise
      return { code: 0, isLate: false, output: user.seen, errors: '' }
    },
  }
}

let lab: TrustLab

beforeAll(async () => {
  lab = await TrustLab.open()
})
afterAll(() => lab[Symbol.asyncDispose]())

describe.each(drivers.filter(({ id }) => Object.hasOwn(dialogs, id)))('Hosts: forms at a terminal', (driver) => {
  test.skipIf(commandOf(driver) === undefined)(`${fullTitle(driver)}: one form is accepted, one is closed`, async () => {
    const dialog = dialogs[driver.id]
    if (dialog === undefined) return
    const { replies, executed } = await lab.run({ ...driver, prepare: dialog.prepare ?? driver.prepare }, atTerminal(dialog))
    expect(executed).toEqual(['move_file'])
    expect(replies.asked).toEqual([expect.stringContaining('move_file: done')])
    expect(replies.refused).toEqual([expect.stringContaining('the user denied it. Do not repeat the call.')])
  })
})
