import { chainAgent } from './agents/chain.ts'
import { isAttempt, type Wish } from './agents/plain.ts'
import { exchangesOf } from './agents/tools.ts'
import type { Driver } from './drivers/driver.ts'
import type { Agent } from './endpoint/endpoint.ts'
import { Gateway } from './gateway.ts'
import { path, prompt, wish } from './lab.ts'
import { Offices } from './offices.ts'
import { type Answer, Reviewer, type WaitingCall } from './reviewer.ts'
import { type RunOptions, runHost } from './run.ts'
import { secret } from './servers/replies.ts'

/** The reason in the rule that denies. */
export const reason = 'Reports are written by the finance team.'

/** Calls that the policy or the result checks affect. Every reply contains `expect`, so that an agent makes each call once. */
export const guardedCalls = {
  denied: wish('write_text_file', { path, content: 'x' }, 'write a text file', 'write_text_file'),
  asked: wish('move_file', { path, destination: 'a' }, 'move a file', 'move_file'),
  refused: wish('copy_file', { path, destination: 'b' }, 'copy a file', 'copy_file'),
  masked: wish('list_directory', { path }, 'list a directory', 'summary.txt'),
  flagged: wish('directory_tree', { path }, 'tree of a directory', 'reports'),
  blocked: {
    ...wish('get_issue', { issue: 'WEB-217' }, 'get an issue', 'content[0]'),
    server: 'tracker',
    tool: 'tracker__get_issue',
  },
} as const satisfies { readonly [name: string]: Wish }

type Call = keyof typeof guardedCalls

export interface TrustRunOptions extends Pick<RunOptions, 'args' | 'launch'> {
  /** Default: makes each call once. */
  readonly agent?: Agent
  /** Default: leaves calls without an answer. */
  readonly answer?: (call: WaitingCall) => Answer | Promise<Answer>
}

/** What a run showed. */
export interface TrustRun {
  /** The replies to each call, as the model received them. */
  readonly replies: { readonly [call in Call]: readonly string[] }
  /** Tools whose calls reached a server, in order. */
  readonly executed: readonly string[]
}

/** One gateway with a policy and result checks, for several hosts, and a reviewer. */
export class TrustLab implements AsyncDisposable {
  readonly #offices: Offices
  readonly #gateway: Gateway
  readonly #reviewer: Reviewer

  private constructor(offices: Offices, gateway: Gateway, reviewer: Reviewer) {
    this.#offices = offices
    this.#gateway = gateway
    this.#reviewer = reviewer
  }

  static async open(policy: object = {}): Promise<TrustLab> {
    const offices = await Offices.open()
    const { files, tracker } = offices.config({ count: 9 })
    const gateway = await Gateway.configured({
      mcpServers: {
        files: { ...files, env: { LAB_SECRET: secret } },
        tracker: { ...tracker, results: { instructions: 'block' } },
      },
      policy: {
        rules: [
          // A rule with a condition about arguments does not hide the tool.
          { effect: 'deny', tool: 'write_text_file', arguments: { required: ['content'] }, reason },
          { effect: 'ask', tool: ['move_file', 'copy_file'] },
        ],
        ...policy,
      },
    })
    const token = await Reviewer.addToken(gateway)
    await gateway.serve()
    return new TrustLab(offices, gateway, Reviewer.watching(gateway, token))
  }

  /** Runs a host with one prompt. Runs must not overlap. */
  async run(driver: Driver, { agent, answer = () => 'ignore', ...options }: TrustRunOptions = {}): Promise<TrustRun> {
    const before = this.#offices.calls.length
    this.#reviewer.answerWith(answer)
    const { turns } = await runHost(driver, {
      gateway: this.#gateway,
      agent: agent ?? chainAgent(Object.values(guardedCalls)),
      prompt,
      ...options,
    })
    const last = turns.at(-1)?.request
    const exchanges = last === undefined ? [] : exchangesOf(last)
    const repliesTo = (wanted: Wish): readonly string[] =>
      exchanges.filter((each) => isAttempt(each, wanted)).map(({ result }) => result.text)
    return {
      replies: Object.fromEntries(
        Object.entries(guardedCalls).map(([name, wanted]) => [name, repliesTo(wanted)]),
      ) as TrustRun['replies'],
      executed: this.#offices.calls.slice(before).map(({ tool }) => tool),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reviewer[Symbol.asyncDispose]()
    await this.#gateway[Symbol.asyncDispose]()
    await this.#offices[Symbol.asyncDispose]()
  }
}
