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

/** Starts a server with three plugins: one blocks forever, one has started a process. */
async function startServer(then: string) {
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
    pids: readPids(child),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    },
  }
}

async function readPids({ stderr }: ChildProcess): Promise<readonly number[]> {
  let output = ''
  for await (const chunk of stderr ?? []) {
    output += String(chunk)
    const pids = /^pids ([\d,]+)$/mu.exec(output)?.[1]?.split(',').map(Number)
    const grandchild = /^grandchild (\d+)$/mu.exec(output)?.[1]
    if (pids !== undefined && grandchild !== undefined && output.includes('stuck now')) return [...pids, Number(grandchild)]
  }
  throw new Error(`The server did not start: ${output}`)
}

/** Includes the prewarmed process. */
function childrenOf({ pid }: ChildProcess): readonly number[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n')
  return lines
    .map((line) => line.trim().split(/\s+/u).map(Number))
    .flatMap(([child, parent]) => (parent === pid && child !== undefined ? [child] : []))
}

async function waitForExit(pids: readonly number[]): Promise<readonly number[]> {
  for (let round = 0; round < 500 && pids.some(isRunning); round++) await pause(20)
  return pids.filter(isRunning)
}

describe.skipIf(process.platform === 'win32')('no plugin, and no process it started, outlives its server', () => {
  test.each(['SIGTERM', 'SIGINT', 'SIGKILL'] as const)('terminated by %s', async (signal) => {
    await using server = await startServer('serve')
    const reported = await server.pids
    expect(reported.filter(isRunning)).toHaveLength(4)
    for (let round = 0; round < 200 && childrenOf(server.child).length < 4; round++) await pause(20)
    const pids = [...new Set([...reported, ...childrenOf(server.child)])]
    expect(pids).toHaveLength(5)
    server.child.kill(signal)
    expect(await waitForExit(pids)).toEqual([])
  })

  test('whose client disconnects', async () => {
    await using server = await startServer('serve')
    const pids = await server.pids
    server.child.stdin?.end()
    await once(server.child, 'exit')
    expect(await waitForExit(pids)).toEqual([])
  })

  test.each(['throw', 'nothing more'])('that exits: %s', async (then) => {
    await using server = await startServer(then)
    const exited = once(server.child, 'exit')
    const pids = await server.pids
    expect(await exited).toEqual([then === 'throw' ? 1 : 0, null])
    expect(await waitForExit(pids)).toEqual([])
  })
})
