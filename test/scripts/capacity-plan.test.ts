import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Measured, readMeasured } from '../../bench/src/cluster/measured.ts'
import { defaultWorkload, limits, planFor } from '../../bench/src/cluster/plan.ts'
import { planText } from '../../bench/src/cluster/plan-report.ts'
import { parseWorkload } from '../../bench/src/cluster/workload.ts'
import { propertyRuns } from '../runs.ts'

// Round numbers, not measured ones.
const measured: Measured = {
  replica: {
    bytes: 200_000_000,
    bytesPerSession: 20_000,
    cpuSecondsPerSession: 0.01,
    cpuSecondsPerCopy: 0.005,
    cpuSecondsPerCall: 0.001,
    cpuSecondsPerList: 0.001,
  },
  redis: {
    bytes: 10_000_000,
    bytesPerSession: 2_000,
    operationsPerSession: 10,
    operationsPerCopy: 1,
    operationsPerCall: 2,
    operationsPerList: 0,
    cpuSecondsPerOperation: 0.000_01,
  },
}

const plan = (users: number, workload: Partial<typeof defaultWorkload> = {}, costs: Measured = measured) =>
  planFor({ ...defaultWorkload, ...workload, users }, costs)

describe('capacity plan', () => {
  test('few users need one cell with two replicas, so that one may fail', () => {
    expect(plan(10)).toMatchObject({ cells: 1, limitedBy: undefined, cell: { replicas: 2 } })
  })

  test('rates, operations and memory follow from the users', () => {
    const { cells, cell } = plan(30_000, { online: 0.5, sessions: 2, sessionMinutes: 50, calls: 4, lists: 3 })
    expect(cells).toBe(1)
    expect(cell).toMatchObject({ users: 30_000, sessions: 30_000, callsPerSecond: 1_000, listsPerSecond: 30 })
    // 1.2 cores at 50 % are three replicas, and one is spare. The three that did not start a session load it.
    expect(cell.replicas).toBe(4)
    expect(cell.replicaCpu).toBeCloseTo(10 * (0.01 + 3 * 0.005) + 1_000 * 0.001 + 30 * 0.001)
    expect(cell.redisOperationsPerSecond).toBeCloseTo(10 * (10 + 3) + 1_000 * 2)
    expect(cell.redisCpu).toBeCloseTo(0.0213)
    expect(cell.replicaBytes).toBeCloseTo((200_000_000 + 30_000 * 20_000) / limits.replicaBytesUsed)
    expect(cell.redisBytes).toBeCloseTo((10_000_000 + 30_000 * 2_000) / limits.redisBytesUsed)
  })

  test('a session is not loaded by more replicas than it has requests', () => {
    const { cell } = plan(100_000, { sessions: 1, sessionMinutes: 1, calls: 1, lists: 1 })
    expect(cell.replicas).toBeGreaterThan(2)
    expect(cell.redisOperationsPerSecond).toBeCloseTo((20_000 / 60) * (10 + 1) + (20_000 / 60) * 2)
  })

  test.each([
    ['replicas', { ...measured, replica: { ...measured.replica, cpuSecondsPerCall: 0.1 } }],
    ['replica memory', { ...measured, replica: { ...measured.replica, bytesPerSession: 1_000_000 } }],
    ['Redis CPU', { ...measured, redis: { ...measured.redis, cpuSecondsPerOperation: 0.01 } }],
    ['Redis memory', { ...measured, redis: { ...measured.redis, bytesPerSession: 1_000_000 } }],
  ] as const)('several cells, if one would exceed a limit: %s', (limit, costs) => {
    const { cells, limitedBy, cell } = plan(10_000_000, {}, costs)
    expect(cells).toBeGreaterThan(1)
    expect(limitedBy).toBe(limit)
    expect(cells * cell.users).toBeGreaterThanOrEqual(10_000_000)
  })

  test('every cell stays within its limits, and more users never need fewer cells', () => {
    const users = fc.integer({ min: 1, max: 100_000_000 })
    fc.assert(
      fc.property(users, users, (first, second) => {
        const [some, more] = [Math.min(first, second), Math.max(first, second)]
        const { cells, cell } = plan(some)
        expect(cell.replicas).toBeLessThanOrEqual(limits.replicas)
        expect(cell.replicaBytes).toBeLessThanOrEqual(limits.replicaBytes)
        expect(cell.replicaCpu).toBeLessThanOrEqual((cell.replicas - 1) * limits.cpuUsed)
        expect(cell.redisCpu).toBeLessThanOrEqual(limits.cpuUsed)
        expect(cell.redisBytes).toBeLessThanOrEqual(limits.redisBytes)
        expect(cells * cell.users).toBeGreaterThanOrEqual(some)
        expect(plan(more).cells).toBeGreaterThanOrEqual(cells)
      }),
      propertyRuns({ long: 5_000, sample: 200 }),
    )
  })

  test('costs that no cell can carry are an error', () => {
    const full = { ...measured, replica: { ...measured.replica, bytes: limits.replicaBytes } }
    expect(() => plan(10, {}, full)).toThrow('One user alone exceeds the limit of a cell: replica memory.')
  })

  test('the text has the settings, and what to shard by', () => {
    const workload = { ...defaultWorkload, users: 10_000_000 }
    const text = planText(workload, planFor(workload, measured))
    expect(text).toContain('Capacity for 10,000,000 users')
    expect(text).toMatch(/limits\.sessions .* of at least [\d,]+/u)
    expect(text).toContain('Shard by tenant')
    const small = { ...defaultWorkload, users: 1_000 }
    expect(planText(small, planFor(small, measured))).toContain('no sharding')
  })
})

describe('workload of a plan', () => {
  test('has defaults for everything but the users', () => {
    expect(parseWorkload('users=1_000')).toEqual({ ...defaultWorkload, users: 1_000 })
    expect(parseWorkload('users=5,calls=0.5,online=1')).toEqual({ ...defaultWorkload, users: 5, calls: 0.5, online: 1 })
  })

  test.each(['', 'users', 'users=', 'users=0', 'users=-1', 'users=1.5', 'calls=3', 'users=1,size=2', '__proto__=1'])(
    '"%s" is invalid, and the error lists the keys',
    (text) => {
      expect(() => parseWorkload(text)).toThrow(/Use users=1000 .* online, sessions/u)
    },
  )

  test('more than all users are not online', () => {
    expect(() => parseWorkload('users=1,online=20')).toThrow('from 0 to 1')
  })
})

describe('measured numbers', () => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'unfold-plan-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test('are read from the results of the benchmark', async () => {
    await writeFile(join(folder, 'good.json'), JSON.stringify({ machine: {}, ...measured }))
    expect(readMeasured(join(folder, 'good.json'))).toMatchObject(measured)
  })

  test('missing and invalid ones are errors that say what to run', async () => {
    expect(() => readMeasured(join(folder, 'none.json'))).toThrow(/No measured numbers .*npm run bench -- cluster/u)
    await writeFile(join(folder, 'bad.json'), JSON.stringify({ ...measured, redis: { ...measured.redis, bytes: -1 } }))
    expect(() => readMeasured(join(folder, 'bad.json'))).toThrow(/redis\.bytes must be .*npm run bench -- cluster/u)
    await writeFile(join(folder, 'text.json'), 'text')
    expect(() => readMeasured(join(folder, 'text.json'))).toThrow('replica.bytes')
  })
})

test('the benchmark explains an invalid plan', () => {
  const program = fileURLToPath(new URL('../../bench/dist/cluster/main.js', import.meta.url))
  const { status, stderr } = spawnSync(process.execPath, [program, '--plan', 'users=many'], { encoding: 'utf8' })
  expect(stderr).toContain('Invalid plan: "users=many"')
  expect(status).toBe(1)
})
