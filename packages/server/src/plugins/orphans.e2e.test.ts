import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { isRunning, toolModule } from '../../test/plugins.ts'

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const program = fileURLToPath(new URL('../../test/plugin-server.mjs', import.meta.url))

/** A process that serves three plugins, of which one never returns and one has started a process itself. */
async function started(then: string) {
  const folder = await mkdtemp(join(tmpdir(), 'unfold-orphans-'))
  const parent = `import { spawn } from 'node:child_process'\nconsole.log('grandchild', spawn('sleep', ['600']).pid)`
  await writeFile(join(folder, 'idle.mjs'), toolModule('idle'))
  await writeFile(join(folder, 'parent.mjs'), toolModule('parent', '', parent))
  await writeFile(
    join(folder, 'stuck.mjs'),
    toolModule('stuck', '', `setTimeout(() => { console.log('stuck now'); for (;;); }, 50)`),
  )
  const child = spawn(process.execPath, [program, folder, then], { stdio: ['pipe', 'ignore', 'pipe'] })
  return {
    child,
    said: listened(child),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    },
  }
}

/** Waits for what the process says of all the processes below it. */
async function listened({ stderr }: ChildProcess): Promise<readonly number[]> {
  let said = ''
  for await (const chunk of stderr ?? []) {
    said += String(chunk)
    const pids = /^pids ([\d,]+)$/mu.exec(said)?.[1]?.split(',').map(Number)
    const grandchild = /^grandchild (\d+)$/mu.exec(said)?.[1]
    if (pids !== undefined && grandchild !== undefined && said.includes('stuck now')) return [...pids, Number(grandchild)]
  }
  throw new Error(`It did not start: ${said}`)
}

/** The processes that this one started, which also has one ready for the next save. */
function childrenOf({ pid }: ChildProcess): readonly number[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n')
  return lines
    .map((line) => line.trim().split(/\s+/u).map(Number))
    .flatMap(([child, parent]) => (parent === pid && child !== undefined ? [child] : []))
}

async function gone(pids: readonly number[]): Promise<readonly number[]> {
  for (let round = 0; round < 500 && pids.some(isRunning); round++) await pause(20)
  return pids.filter(isRunning)
}

describe.skipIf(process.platform === 'win32')('no plugin, nor what it started, outlives its server', () => {
  test.each(['SIGTERM', 'SIGINT', 'SIGKILL'] as const)('that is ended by %s', async (signal) => {
    await using server = await started('serve')
    const said = await server.said
    expect(said.filter(isRunning)).toHaveLength(4)
    for (let round = 0; round < 200 && childrenOf(server.child).length < 4; round++) await pause(20)
    const pids = [...new Set([...said, ...childrenOf(server.child)])]
    expect(pids).toHaveLength(5)
    server.child.kill(signal)
    expect(await gone(pids)).toEqual([])
  })

  test('whose client goes away', async () => {
    await using server = await started('serve')
    const pids = await server.said
    server.child.stdin?.end()
    await once(server.child, 'exit')
    expect(await gone(pids)).toEqual([])
  })

  test.each(['throw', 'nothing more'])('that comes to its end: %s', async (then) => {
    await using server = await started(then)
    const exited = once(server.child, 'exit')
    const pids = await server.said
    expect(await exited).toEqual([then === 'throw' ? 1 : 0, null])
    expect(await gone(pids)).toEqual([])
  })
})
