import { type CommandError, exit } from '../base/exit.ts'
import type { Io } from '../base/io.ts'
import { type Flags, isSet } from '../grammar/grammar.ts'
import { safeText } from '../text/safe.ts'
import { createStyle, type Style } from '../text/style.ts'

/** Output of a command: data to stdout, everything else to stderr. */
export class Output {
  readonly #io: Io
  readonly #flags: Flags

  constructor(io: Io, flags: Flags) {
    this.#io = io
    this.#flags = flags
  }

  get isJson(): boolean {
    return isSet(this.#flags, 'json') || this.isJsonLines
  }

  get isJsonLines(): boolean {
    return isSet(this.#flags, 'jsonl')
  }

  get width(): number {
    return Math.min(this.#io.stdout.columns ?? 100, 120)
  }

  get style(): Style {
    return createStyle({ env: this.#io.env, isTerminal: this.#io.stdout.isTTY === true })
  }

  /** Prints the result: text for people, or JSON. */
  result(text: string, data: unknown): void {
    if (this.isJson) this.#io.stdout.write(`${JSON.stringify(data, undefined, this.isJsonLines ? undefined : 2)}\n`)
    else this.#io.stdout.write(text.endsWith('\n') || text === '' ? text : `${text}\n`)
  }

  /** Prints one of several results. */
  item(text: string, data: unknown): void {
    if (this.isJson) this.#io.stdout.write(`${JSON.stringify(data)}\n`)
    else this.#io.stdout.write(`${text}\n`)
  }

  note(text: string): void {
    if (!isSet(this.#flags, 'quiet')) this.#io.stderr.write(`${text}\n`)
  }

  warn(text: string): void {
    if (!isSet(this.#flags, 'quiet')) this.#io.stderr.write(`warning: ${safeText(text)}\n`)
  }

  error(error: CommandError): void {
    const { message, reason, code, details } = error
    if (this.isJson) this.#io.stderr.write(`${JSON.stringify({ error: { reason, message, exitCode: code, ...details } })}\n`)
    else this.#io.stderr.write(`${code === exit.interrupted ? '' : 'error: '}${safeText(message, { lines: true })}\n`)
    if (isSet(this.#flags, 'debug') && error.stack !== undefined) this.#io.stderr.write(`${error.stack}\n`)
  }
}
