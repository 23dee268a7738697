import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { isAlive, until } from '../../../client/test/processes.ts'
import { gatewayFolder } from '../gateway-file.ts'
import { server } from '../upstreams.ts'
import { runningGateway } from './running.ts'
import { hasNamespaces, processesWith } from './strays.ts'

const isLinux = process.platform === 'linux'
const isNamespaceUsable = isLinux && hasNamespaces()
const note = isNamespaceUsable ? '' : ' (skipped: bubblewrap not installed or not allowed)'
const modes = ['tree', ...(isNamespaceUsable ? ['namespace'] : [])]

/** A server that starts two processes in sessions of their own, which end with their mark. */
function strays(processes?: string) {
  const mark = `stray-${randomUUID()}`
  const { command, args } = server('raw.mjs', 'strays')
  // The server, the two processes, and what they start; bubblewrap adds two.
  const started = (): Promise<void> => until(async () => (await processesWith(mark)).length >= 5, 'all processes run')
  const ended = (): Promise<void> => until(async () => (await processesWith(mark)).length === 0, 'all processes have ended')
  return { mark, started, ended, config: { command, args, env: { MARK: mark }, ...(processes !== undefined && { processes }) } }
}

describe.skipIf(!isLinux)('a process that left the process group of its server', () => {
  test.each(modes)('AT-R17-1: ends when the server is removed or dies (%s)', async (processes) => {
    const [first, second] = [strays(), strays(processes)]
    await using all = await runningGateway({ first: first.config, second: second.config }, { rest: { processes } })
    await Promise.all([first.started(), second.started(), all.lists('second__more')])
    await all.edit({ second: second.config })
    await first.ended()
    const pid = all.gateway.upstreams.get('second')?.status.pid ?? 0
    const before = new Set(await processesWith(second.mark))
    process.kill(-pid, 'SIGKILL')
    await until(async () => !(await processesWith(second.mark)).some((each) => before.has(each)), 'the old ones have ended')
    await second.started()
    await all.close()
    await second.ended()
  })

  test.each(modes.flatMap((processes) => ['SIGTERM', 'SIGKILL'].map((signal) => [processes, signal] as const)))(
    'AT-R17-2: ends with the gateway (%s, %s)',
    async (processes, signal) => {
      await using folder = await gatewayFolder()
      const file = join(folder.path, 'unfold.json')
      const { config, started, ended } = strays()
      await writeFile(file, JSON.stringify({ mcpServers: { up: config }, processes }))
      const program = fileURLToPath(new URL('gateway.mjs', import.meta.url))
      const gateway = spawn(process.execPath, [program, file, folder.path], { stdio: ['ignore', 'pipe', 'inherit'] })
      try {
        const exited = once(gateway, 'exit')
        const [line] = await once(createInterface({ input: gateway.stdout }), 'line')
        const { guard }: { guard: number } = JSON.parse(String(line))
        await started()
        gateway.kill(signal as NodeJS.Signals)
        await exited
        await ended()
        await until(() => !isAlive(guard), 'the guard has ended')
      } finally {
        gateway.kill('SIGKILL')
      }
    },
  )

  test('AT-R17-3: survives with "processes": "group", for servers that start programs to stay', async () => {
    const { config, mark, started } = strays('group')
    {
      await using all = await runningGateway({ up: config })
      await Promise.all([started(), all.lists('up__more')])
    }
    const left = await processesWith(mark)
    for (const pid of left) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
    expect(left.length).toBeGreaterThanOrEqual(2)
  })
})

describe.skipIf(!isNamespaceUsable)(`a PID namespace${note}`, () => {
  test('AT-R17-4: ends processes without the environment of the server too', async () => {
    const { command, args = [] } = server('raw.mjs', 'forgetful')
    // The command line is the only mark of such a process.
    const seconds = `600.${Math.floor(Math.random() * 1e9)}`
    {
      await using all = await runningGateway({ up: { command, args: [...args, seconds], processes: 'namespace' } })
      await all.lists('up__more')
      await until(async () => (await processesWith(`sleep\0${seconds}`)).length === 1, 'it runs')
    }
    await until(async () => (await processesWith(`sleep\0${seconds}`)).length === 0, 'it has ended')
  })

  test('AT-R17-5: a server in it can react to SIGTERM before it is killed', async () => {
    const { command, args } = server('raw.mjs', 'polite')
    await using all = await runningGateway({ up: { command, args, processes: 'namespace' } })
    await all.lists('up__more')
    await all.edit({})
    expect(all.of('stderr', 'up').map(({ line }) => line)).toContain('asked to end')
  })
})

test('AT-R17-6: a server for a folder with the files of the gateway is reported at start and on reload', async () => {
  await using folder = await gatewayFolder()
  const [data, work] = ['data', 'work'].map((name) => join(folder.path, name)) as [string, string]
  await Promise.all([data, work].map((path) => mkdir(path)))
  const { command, args = [] } = server('raw.mjs', 'plain')
  const at = (path: string) => ({ command, args: [...args, path] })
  await using all = await runningGateway({ files: at(folder.path), work: at(work) }, { folder: folder.path })
  const warnings = (): readonly string[] => all.messages.filter((line) => line.includes('which a model could read or change'))
  expect(warnings()).toEqual([expect.stringContaining(`args[2] ${folder.path} contains ${folder.path} (tokens)`)])
  await all.edit({ files: at(folder.path), work: at(work), more: at(data) })
  expect(warnings()).toHaveLength(1)
  await all.edit({ files: at(folder.path), work: at(work), more: at('.') })
  expect(warnings()).toHaveLength(2)
})
