import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { type Gateway, unfold } from './gateway.ts'

const execute = promisify(execFile)

/** A call that waits, as `unfold approvals` shows it. */
export interface WaitingCall {
  readonly id: string
  readonly tool: string
}

/** What the reviewer does with a waiting call. */
export type Answer = 'approve' | 'deny' | 'ignore'

type AnswerCall = (call: WaitingCall) => Answer | Promise<Answer>

/** A person who answers waiting calls with `unfold approvals`. */
export class Reviewer implements AsyncDisposable {
  readonly #gateway: Gateway
  readonly #env: NodeJS.ProcessEnv
  readonly #watch: ChildProcess
  #answer: AnswerCall = () => 'ignore'

  private constructor(gateway: Gateway, token: string) {
    this.#gateway = gateway
    this.#env = { ...gateway.env, UNFOLD_TOKEN: token }
    const watch = spawn(process.execPath, [unfold, 'approvals', '--watch', '--json', '--config', gateway.config], {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: this.#env,
    })
    this.#watch = watch
    createInterface({ input: watch.stdout }).on('line', (line) => void this.#decide(JSON.parse(line) as WaitingCall))
  }

  /** Watches a running gateway, with a token from `addToken`. */
  static watching(gateway: Gateway, token: string): Reviewer {
    return new Reviewer(gateway, token)
  }

  /** Adds the token of a reviewer to the configuration of a gateway that does not run yet. */
  static async addToken({ config, env }: Gateway): Promise<string> {
    const args = [unfold, 'token', 'add', 'rita', '--role', 'reviewer', '--json', '--config', config]
    const { stdout } = await execute(process.execPath, args, { env })
    return (JSON.parse(stdout) as { readonly token: string }).token
  }

  /** Answers the calls that wait from now on. */
  answerWith(answer: AnswerCall): void {
    this.#answer = answer
  }

  async #decide(call: WaitingCall): Promise<void> {
    const answer = await this.#answer(call)
    if (answer === 'ignore') return
    const args = [unfold, 'approvals', answer, call.id, '--yes', '--config', this.#gateway.config]
    // It fails if the call no longer waits.
    await execute(process.execPath, args, { env: this.#env }).catch(() => undefined)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#watch.exitCode !== null || this.#watch.signalCode !== null) return
    this.#watch.kill('SIGTERM')
    await once(this.#watch, 'exit')
  }
}
