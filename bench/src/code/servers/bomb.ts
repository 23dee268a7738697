// Runs one bomb in one engine, and prints how it ended: node bomb.js <engine> <bomb>
import { createRequire } from 'node:module'
import { runInNewContext } from 'node:vm'
import { quickJsEngine } from '@unfold-mcp/server/scripts'
import { peersFolder } from '../../peers/install.ts'
import { type Bomb, bombLimits, bombs, type Explosion } from '../bombs.ts'

const { cpuMs, memoryBytes, stackBytes, resultBytes } = bombLimits
const [engine = '', bomb = ''] = process.argv.slice(2)
const source = bombs[bomb as Bomb]

const engines: { readonly [name: string]: () => Promise<string> } = {
  async unfold() {
    await using scripts = quickJsEngine({ workers: 1 })
    const limits = { cpuMs, wallMs: 60_000, memoryBytes, calls: 100, outputCharacters: 10_000, resultBytes }
    const machine = await scripts.open({ limits, signal: new AbortController().signal })
    const turn = await machine.start({ source })
    return turn.kind === 'threw' ? `threw ${turn.error.name}` : turn.kind
  },

  async 'quickjs-emscripten'() {
    const library = createRequire(new URL('x.js', peersFolder))('quickjs-emscripten') as Emscripten
    const runtime = (await library.getQuickJS()).newRuntime()
    runtime.setMemoryLimit(memoryBytes)
    runtime.setMaxStackSize(stackBytes)
    const deadline = performance.now() + cpuMs
    runtime.setInterruptHandler(() => performance.now() > deadline)
    const context = runtime.newContext()
    const result = context.evalCode(`(async () => { ${source} })().then((value) => JSON.stringify(value))`)
    if (result.error !== undefined) return `threw ${nameOf(context.dump(result.error))}`
    const jobs = runtime.executePendingJobs()
    if (jobs.error !== undefined) return `threw ${nameOf(context.dump(jobs.error))}`
    const { type, error } = context.getPromiseState(result.value)
    return error === undefined ? type : `threw ${nameOf(context.dump(error))}`
  },

  async 'node:vm'() {
    const program = `(async () => { ${source} })().then((value) => JSON.stringify(value))`
    const result: unknown = runInNewContext(program, {}, { timeout: cpuMs, microtaskMode: 'afterEvaluate' })
    // The promise belongs to the microtasks of the other context, which ran before the call returned.
    return typeof result === 'object' ? 'returned' : 'threw'
  },
}

let lagMs = 0
let last = performance.now()
const tick = (): void => {
  const now = performance.now()
  lagMs = Math.max(lagMs, now - last - 5)
  last = now
}
const timer = setInterval(tick, 5)
const start = performance.now()
const outcome = await (engines[engine]?.() ?? Promise.reject(new Error(`Unknown engine ${engine}`))).catch(describe)
const ms = performance.now() - start
tick()
clearInterval(timer)
const explosion: Explosion = { outcome, ms, peakMb: process.resourceUsage().maxRSS / 1_024, lagMs }
console.log(JSON.stringify(explosion))
process.exit(0)

function describe(error: unknown): string {
  const { reason, details, message } = Object(error)
  return reason === 'script_limit' ? `limit: ${details.limit}` : `threw ${nameOf(error)}: ${String(message).slice(0, 60)}`
}

function nameOf(error: unknown): string {
  return String(Object(error).name ?? error)
}

interface Emscripten {
  getQuickJS(): Promise<{ newRuntime(): EmscriptenRuntime }>
}

interface EmscriptenRuntime {
  setMemoryLimit(bytes: number): void
  setMaxStackSize(bytes: number): void
  setInterruptHandler(handler: () => boolean): void
  executePendingJobs(): { readonly error?: unknown }
  newContext(): {
    evalCode(code: string): { readonly error?: unknown; readonly value?: unknown }
    dump(handle: unknown): unknown
    getPromiseState(handle: unknown): { readonly type: string; readonly error?: unknown }
  }
}
