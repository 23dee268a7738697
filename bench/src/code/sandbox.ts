import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { quickJsEngine, type ScriptMachine } from '@unfold-mcp/server/scripts'
import { isInstalled } from '../peers/install.ts'
import { median } from '../tokens/cost.ts'
import { type Bomb, bombLimits, bombs, type Explosion } from './bombs.ts'

const engines = ['unfold', 'quickjs-emscripten', 'node:vm'] as const
type EngineName = (typeof engines)[number]

const program = fileURLToPath(new URL('servers/bomb.js', import.meta.url))
const deadlineMs = 20_000
const maxMb = 2_048

export interface SandboxResults {
  readonly node: string
  readonly explosions: readonly { readonly bomb: Bomb; readonly by: { readonly [E in EngineName]?: Explosion } }[]
  readonly speed: SandboxSpeed
}

interface SandboxSpeed {
  /** First script of a process, which starts a worker and compiles the engine. */
  readonly coldMs: number
  /** From `open` to the result of a script that returns a constant, with a worker that exists. */
  readonly startMs: number
  /** One call from a script, which is answered at once. */
  readonly callMs: number
  readonly snapshotBytes: number
  readonly snapshotMs: number
  readonly restoreMs: number
}

/** Measures each bomb in each engine, in a process of its own, and the speed of ours. */
export async function sandboxes(quick: boolean): Promise<SandboxResults> {
  const known = engines.filter((name) => name !== 'quickjs-emscripten' || isInstalled(name, process.env.npm_execpath))
  const explosions = []
  for (const bomb of Object.keys(bombs) as Bomb[]) {
    const by: { [E in EngineName]?: Explosion } = {}
    for (const engine of known) by[engine] = await exploded(engine, bomb)
    explosions.push({ bomb, by })
  }
  return { node: process.version, explosions, speed: await speedOf(quick ? 100 : 300) }
}

/** Runs one bomb. A process that hangs or grows too much is killed. */
function exploded(engine: EngineName, bomb: Bomb): Promise<Explosion> {
  const start = performance.now()
  const child = spawn(process.execPath, [program, engine, bomb], { stdio: ['ignore', 'pipe', 'ignore'] })
  let printed = ''
  let killed: string | undefined
  let peakMb = 0
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString()
  })
  const timer = setInterval(() => {
    peakMb = Math.max(peakMb, peakOf(child.pid))
    if (performance.now() - start > deadlineMs) killed = `hangs: killed after ${deadlineMs / 1_000} s`
    else if (peakMb > maxMb) killed = `grows: killed at ${maxMb} MB`
    if (killed !== undefined) child.kill('SIGKILL')
  }, 20)
  return new Promise((resolve) => {
    child.once('close', (code, signal) => {
      clearInterval(timer)
      const ms = performance.now() - start
      const died: Explosion = { outcome: killed ?? `process dies (${signal ?? code})`, ms, peakMb, lagMs: ms }
      resolve(printed === '' ? died : (JSON.parse(printed) as Explosion))
    })
  })
}

function peakOf(pid: number | undefined): number {
  try {
    return Number(/VmHWM:\s+(\d+)/u.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024
  } catch {
    return 0
  }
}

async function speedOf(rounds: number): Promise<SandboxSpeed> {
  await using engine = quickJsEngine({ workers: 1 })
  const { cpuMs, memoryBytes, resultBytes } = bombLimits
  const limits = { cpuMs: cpuMs * 60, wallMs: 600_000, memoryBytes, calls: 1e6, outputCharacters: 10_000, resultBytes }
  const open = (): Promise<ScriptMachine> => engine.open({ limits, signal: new AbortController().signal })
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const start = performance.now()
    await work()
    return performance.now() - start
  }
  const times = async (work: () => Promise<unknown>): Promise<number> => {
    const all: number[] = []
    for (let round = 0; round < rounds; round++) all.push(await timed(work))
    return median(all)
  }

  const first = async (): Promise<unknown> => (await open()).start({ source: 'return 1' })
  const coldMs = await timed(first)
  const startMs = await times(first)

  const calling = await open()
  await calling.start({ source: 'for (let i = 0; ; i++) await tools.x({ i })' })
  let id = 0
  const callMs = await times(() => calling.settle([{ id: ++id, value: { ok: true } }]))
  calling.close()

  const paused = await open()
  await paused.start({ source: smallScript })
  await paused.settle([
    { id: 1, value: Array.from({ length: 20 }, (_, row) => ({ id: row, name: `row ${row}`, open: row % 2 === 0 })) },
  ])
  const snapshot = await paused.snapshot()
  const snapshotMs = await times(() => paused.snapshot())
  paused.close()
  const restoreMs = await times(async () => {
    const machine = await open()
    await machine.restore(snapshot)
    machine.close()
  })
  return { coldMs, startMs, callMs, snapshotBytes: snapshot.length, snapshotMs, restoreMs }
}

const smallScript = `const rows = await tools.db.rows({ limit: 20 })
const open = rows.filter((row) => row.open)
const issues = await Promise.all(open.map((row) => tools.jira.create({ title: row.name })))
return { created: issues.length }`

/** Targets with their measured values. */
export function sandboxTargets({ explosions, speed: { startMs, callMs } }: SandboxResults): readonly Target[] {
  const ours = explosions.map(({ bomb, by }) => ({ bomb, ...by.unfold }))
  const unstopped = ours.filter(({ outcome }) => outcome?.startsWith('limit:') !== true).map(({ bomb }) => bomb)
  const lag = Math.max(...ours.map(({ lagMs = Number.POSITIVE_INFINITY }) => lagMs))
  return [
    { what: `bombs that no limit ends: ${unstopped.join(', ') || 'none'}`, isMet: unstopped.length === 0 },
    { what: `main thread blocked by a bomb: at most ${lag.toFixed(0)} ms (limit: 50 ms)`, isMet: lag <= 50 },
    { what: `start of a script in an existing worker: ${startMs.toFixed(1)} ms p50 (limit: 15 ms)`, isMet: startMs <= 15 },
    { what: `round trip of a call: ${callMs.toFixed(2)} ms p50 (limit: 0.3 ms)`, isMet: callMs <= 0.3 },
  ]
}

interface Target {
  readonly what: string
  readonly isMet: boolean
}

/** Tables in Markdown. */
export function sandboxReport({ node, explosions, speed }: SandboxResults): string {
  const { cpuMs, memoryBytes } = bombLimits
  const cell = (explosion: Explosion | undefined): string =>
    explosion === undefined
      ? 'not installed'
      : `${explosion.outcome}; ${(explosion.ms / 1_000).toFixed(1)} s, ${explosion.peakMb.toFixed(0)} MB, lag ${explosion.lagMs.toFixed(0)} ms`
  const rows = explosions.map(({ bomb, by }) => `| \`${bomb}\` | ${engines.map((engine) => cell(by[engine])).join(' | ')} |`)
  return [
    `Limits: ${cpuMs / 1_000} s of CPU time, ${memoryBytes / 1_048_576} MiB. Each bomb in a process of its own (${node}): how it ends, time, peak memory of the process, longest block of the main thread.`,
    '',
    `| Bomb | ${engines.join(' | ')} |`,
    `| --- | ${engines.map(() => '---').join(' | ')} |`,
    ...rows,
    '',
    `Start of a script: ${speed.startMs.toFixed(1)} ms p50 in an existing worker, ${speed.coldMs.toFixed(0)} ms for the first of a process. ` +
      `A call: ${speed.callMs.toFixed(2)} ms p50. ` +
      `Snapshot of a small script: ${(speed.snapshotBytes / 1_000).toFixed(1)} kB in ${speed.snapshotMs.toFixed(1)} ms; resumed in ${speed.restoreMs.toFixed(1)} ms.`,
  ].join('\n')
}
