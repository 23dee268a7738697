import { createRequire } from 'node:module'
import { Script } from 'node:vm'
import { Worker } from 'node:worker_threads'
import type { ScriptError } from './engine.ts'

/** JavaScript, or why it cannot be made. */
export type Stripped = { readonly source: string } | { readonly error: ScriptError }

/** Removes the types of scripts. */
export interface TypeStripper extends AsyncDisposable {
  /**
   * Replaces types by spaces, so that every line and column stays where it is. Plain JavaScript is returned as it is. `isModule`:
   * whether it is a module instead of the body of a function; without the library, a module is returned as it is.
   */
  strip(source: string, options?: { readonly isModule?: boolean }): Promise<Stripped>
}

const libraryName = '@swc/wasm-typescript'
const longestSource = 512_000
const parseLimitMs = 2_000
const loadLimitMs = 30_000
const idleMs = 30_000

// Top-level `await` and `return` are allowed. Everything before the script is on its first line, to keep its lines.
const before = 'async()=>{'
const after = '\n}'

/** `libraryPath`: where the library is; `undefined` if it is not installed. */
export function createTypeStripper(libraryPath: () => string | undefined = installedLibrary): TypeStripper {
  let thread: StrippingThread | undefined
  let last: Promise<unknown> = Promise.resolve()

  const stripNow = async (source: string, isModule: boolean): Promise<Stripped> => {
    if (thread?.isOver !== false) {
      const path = libraryPath()
      if (path === undefined) return isModule || isJavaScript(source) ? { source } : notInstalled
      thread = new StrippingThread(path)
    }
    const reply = await thread.strip(isModule ? source : `${before}${source}${after}`)
    if (!('stripped' in reply)) return { error: errorOf(source, reply, isModule ? 0 : before.length) }
    return isModule ? { source: reply.stripped } : withoutWrapper(source, reply.stripped)
  }

  return {
    async strip(source, { isModule = false } = {}) {
      if (source.length > longestSource)
        return failed(`The script is too long: ${source.length} characters. At most ${longestSource} are allowed.`)
      if (!isModule && isJavaScript(source) && !mayHaveTypeArguments(source)) return { source }
      const stripped = last.then(() => stripNow(source, isModule))
      last = stripped.catch(() => undefined)
      return stripped
    },
    async [Symbol.asyncDispose]() {
      await thread?.end()
    },
  }
}

/** Parses without running. What needs a newer engine than Node counts as not JavaScript; then the library decides. */
function isJavaScript(source: string): boolean {
  return syntaxErrorIn(source) === undefined
}

function syntaxErrorIn(source: string): Error | undefined {
  try {
    new Script(`${before}${source}${after}`, { filename: 'script' })
    return undefined
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

// `f<string>(x)` and `new Set<string>(x)` are comparisons in JavaScript and calls in TypeScript.
const mayHaveTypeArguments = (source: string): boolean => source.includes('<') && /[^=\s]\s{0,8}>\s{0,8}[(`]/u.test(source)

function withoutWrapper(source: string, code: string): Stripped {
  const made = code.slice(before.length, code.length - after.length)
  if (made.length !== source.length || !code.startsWith(before)) return failed('The types of the script could not be removed.')
  const decorator = decoratorIn(made)
  return decorator === undefined ? { source: made } : { error: decorator }
}

/** Decorators are JavaScript for the library, but for no engine yet. */
function decoratorIn(source: string): ScriptError | undefined {
  if (!source.includes('@')) return undefined
  const error = syntaxErrorIn(source)
  // V8 puts the position above its message: `script:2`, the line, and a mark below the column.
  const [, lineText, , mark] = /^script:(\d+)\n(.*)\n(\s*)\^/u.exec(error?.stack ?? '') ?? []
  if (lineText === undefined || mark === undefined) return undefined
  const line = Number(lineText)
  const column = mark.length - (line === 1 ? before.length : 0)
  if (source.split('\n')[line - 1]?.charAt(column) !== '@') return undefined
  return { name: 'SyntaxError', message: 'Decorators are not supported. Call the function instead.', line, column: column + 1 }
}

interface LibraryError {
  readonly code?: string
  readonly message: string
  readonly startLine?: number
  readonly startColumn?: number
}

function errorOf(source: string, { code, message, startLine, startColumn }: LibraryError, shift: number): ScriptError {
  const text = code === 'UnsupportedSyntax' ? unsupported(message) : message
  if (startLine === undefined || startColumn === undefined) return { name: 'SyntaxError', message: text }
  const lines = source.split('\n')
  const last = lines.at(-1) ?? ''
  // The script ended too early, and the error is in what follows it.
  if (startLine > lines.length) return { name: 'SyntaxError', message: text, line: lines.length, column: last.length + 1 }
  const column = startLine === 1 ? startColumn - shift : startColumn
  return { name: 'SyntaxError', message: text, line: startLine, column: Math.max(0, column) + 1 }
}

const unsupported = (message: string): string =>
  message.endsWith(modeHint)
    ? `${message.slice(0, -modeHint.length)} is not supported: types are removed, not compiled. Write it in JavaScript.`
    : message

const modeHint = ' is not supported in strip-only mode'

const failed = (message: string): Stripped => ({ error: { name: 'SyntaxError', message } })

const notInstalled = failed(
  `The script is not JavaScript, and types cannot be removed because ${libraryName} is not installed. Install it, or write JavaScript.`,
)

function installedLibrary(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(libraryName)
  } catch {
    return undefined
  }
}

// A source text instead of a file: it is the same in the sources, in `dist` and in a bundle.
const program = `
const { parentPort, workerData } = require('node:worker_threads')
const { transformSync } = require(workerData)
parentPort.postMessage({ stripped: '' })
parentPort.on('message', (source) => {
  try {
    parentPort.postMessage({ stripped: transformSync(source, { mode: 'strip-only' }).code })
  } catch (error) {
    if (error instanceof Error) throw error
    const { code, message, startLine, startColumn } = error
    parentPort.postMessage({ error: { code, message, startLine, startColumn } })
  }
})`

type Reply = { readonly stripped: string } | LibraryError

/**
 * The library in a separate thread: a script that takes long to parse does not block other clients, and one that overflows the
 * stack of the library, which breaks it for good, ends only this thread.
 */
class StrippingThread {
  readonly #worker: Worker
  readonly #loaded: Promise<Reply>
  #idle: NodeJS.Timeout | undefined
  isOver = false

  constructor(libraryPath: string) {
    this.#worker = new Worker(program, {
      eval: true,
      workerData: libraryPath,
      resourceLimits: { maxOldGenerationSizeMb: 128 },
      env: {},
      execArgv: [],
      name: 'types',
    })
    this.#worker.unref()
    this.#worker.on('error', () => undefined)
    this.#worker.on('exit', () => {
      this.isOver = true
    })
    this.#loaded = this.#reply(loadLimitMs, cannotLoad)
  }

  async strip(source: string): Promise<Reply> {
    const loaded = await this.#loaded
    if (!('stripped' in loaded)) return loaded
    const reply = this.#reply(parseLimitMs, tooComplex)
    this.#worker.postMessage(source, [])
    return reply
  }

  /** Waits for the next message. Only then does the thread keep the process alive. */
  #reply(limitMs: number, otherwise: LibraryError): Promise<Reply> {
    clearTimeout(this.#idle)
    return new Promise((resolve) => {
      const done = (reply: Reply): void => {
        clearTimeout(timeout)
        this.#worker.off('message', received)
        this.#worker.off('exit', ended)
        this.#worker.unref()
        this.#idle = setTimeout(() => void this.end(), idleMs).unref()
        resolve(reply)
      }
      const received = (reply: { stripped: string } | { error: LibraryError }): void =>
        done('error' in reply ? reply.error : reply)
      const ended = (): void => done(otherwise)
      const timeout = setTimeout(() => {
        void this.end()
        done(otherwise)
      }, limitMs)
      this.#worker.once('message', received)
      this.#worker.once('exit', ended)
      this.#worker.ref()
    })
  }

  async end(): Promise<void> {
    this.isOver = true
    clearTimeout(this.#idle)
    await this.#worker.terminate()
  }
}

const cannotLoad: LibraryError = { message: `Types cannot be removed: ${libraryName} could not be loaded.` }

const tooComplex: LibraryError = { message: 'The script is nested too deeply, or takes too long to parse.' }
