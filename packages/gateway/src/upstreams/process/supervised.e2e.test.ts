import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, isClientError } from '@unfold-mcp/client'
import { expect, test } from 'vitest'
import { isAlive, until } from '../../../../client/test/processes.ts'
import { server } from '../../../test/upstreams.ts'
import { guardArgs } from './guard.ts'
import { monotonicMs, TimedSupervisor } from './supervised.ts'

const inMs = (ms: number) => ({ stopAt: monotonicMs() + ms, killAt: monotonicMs() + ms + 500 })

test('a supervised server works, and ends with its descendants at the given time unless that is postponed', async () => {
  const pids: number[] = []
  const supervisor = new TimedSupervisor(inMs(20_000))
  await using connection = await connect(server('raw.mjs', 'parent'), {
    supervisor,
    onStderr: (line) => {
      if (line.startsWith('grandchild ')) pids.push(Number(line.split(' ')[1]))
    },
  })
  await until(() => pids.length === 1, 'the grandchild')
  pids.push(connection.pid ?? 0)
  // The first time is not reached, because later lines replace it.
  supervisor.postpone(inMs(60_000))
  await connection.ping()
  expect(pids.map(isAlive)).toEqual([true, true])
  supervisor.end()
  await until(() => !pids.some(isAlive), 'all of it to end')
})

test('a supervised process ends although its parent does nothing', async () => {
  const { stopAt, killAt } = inMs(3_000)
  // It ignores SIGTERM.
  const stubborn = ['sh', '-c', 'trap "" TERM; while :; do sleep 1; done']
  const stdio = ['ignore', 'ignore', 'ignore', 'pipe'] as const
  const child = spawn(process.execPath, [...guardArgs, String(stopAt), String(killAt), ...stubborn], {
    stdio: [...stdio],
    detached: true,
  })
  await once(child, 'exit')
  expect(monotonicMs()).toBeGreaterThanOrEqual(stopAt)
})

test('a server whose time has passed before its start is not started', async () => {
  const lines: string[] = []
  const opening = connect(server('raw.mjs', 'parent'), {
    supervisor: new TimedSupervisor(inMs(-1)),
    onStderr: (line) => lines.push(line),
  })
  await expect(opening).rejects.toSatisfy((error) => isClientError(error, 'server_died') && error.details.code === 75)
  expect(lines).toEqual([])
})
