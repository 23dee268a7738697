import type { Tool } from '@modelcontextprotocol/client'
import { listen } from '@unfold-mcp/server'
import { describe, expect, test } from 'vitest'
import { JobQueue, type Limits } from '../src/state-aware/queue.ts'
import { jobServer } from '../src/state-aware/server.ts'
import { type Connected, connected, eras, joinedTo } from './connected.ts'

const made = (limits: Partial<Limits> = {}) => {
  const queue = new JobQueue(limits)
  return { queue, server: jobServer(queue), [Symbol.dispose]: () => queue.close() }
}

const toolOf = async ({ client }: Connected, name: string): Promise<Tool | undefined> =>
  (await client.listTools(undefined, { cacheMode: 'bypass' })).tools.find((tool) => tool.name === name)

const statesOf = async (session: Connected): Promise<unknown> => {
  const properties = (await toolOf(session, 'jobs'))?.inputSchema.properties as { which: { enum: string[] } } | undefined
  return properties?.which.enum
}

async function ended(queue: JobQueue, count: number): Promise<void> {
  await expect.poll(() => queue.facts.get('done') + queue.facts.get('failed'), { timeout: 120_000 }).toBe(count)
}

test.each(eras)('jobs and report are hidden until a job is submitted (%s)', async (era) => {
  using job = made()
  await using session = await connected(job.server, { era })
  expect(await session.toolNames()).toEqual(['submit'])
  await expect(session.call('jobs', { which: 'done' })).rejects.toThrow(
    'jobs(which: "done") has no data now. Submit one, and look when it has ended. No mode has data now.',
  )
  expect(await session.text('submit', { kind: 'primes', size: 100 })).toMatch(/^Job 1 waits\./u)
  await ended(job.queue, 1)
  expect(await statesOf(session)).toEqual(['done'])
  expect((await toolOf(session, 'jobs'))?._meta).toEqual({ available_modes: ['done'], data_counts: { done: 1 } })
  expect(await session.data('jobs', { which: 'done' })).toEqual({
    jobs: [{ id: 1, kind: 'primes', size: 100, state: 'done', steps: 98, outcome: 'There are 25 primes below 100.' }],
  })
})

test('a session is notified when jobs finish, and report is listed after the first call of jobs', async () => {
  using job = made()
  await using session = await connected(job.server)
  await session.call('submit', { kind: 'collatz', size: 1_000 })
  await ended(job.queue, 1)
  await expect.poll(() => session.notices).toBeGreaterThan(0)
  expect(await session.toolNames()).toEqual(['submit', 'jobs', 'clear'])
  expect(await session.text('jobs', { which: 'done', limit: 1 })).toContain('- report(form: "table" | "totals"')
  expect(await session.toolNames()).toEqual(['submit', 'jobs', 'report', 'clear'])
  expect(await session.text('report', { form: 'table' })).toBe(
    [
      '| Job | Kind | Size | Result |',
      '| --- | --- | --- | --- |',
      '| 1 | collatz | 1000 | Below 1000 the longest way to 1 begins at 871 and takes 178 steps. |',
    ].join('\n'),
  )
  expect(await session.data('report', { form: 'totals' })).toEqual({ totals: [{ kind: 'collatz', jobs: 1, steps: 59_431 }] })
  await expect(session.call('report', { form: 'totals', kind: 'collatz' })).rejects.toThrow('it belongs to table')
})

test('an observation by one session lists nothing for another, and both see the same jobs', async () => {
  using job = made()
  await using listening = await listen(job.server, { port: 0 })
  await using one = await joinedTo(listening.url, { era: 'session' })
  await using other = await joinedTo(listening.url, { era: 'session' })
  await one.call('submit', { kind: 'palindromes', size: 1_000 })
  await ended(job.queue, 1)
  await one.call('jobs', { which: 'done' })
  expect(await one.toolNames()).toContain('report')
  expect(await other.toolNames()).toEqual(['submit', 'jobs', 'clear'])
  expect(await other.text('jobs', { which: 'done' })).toContain('109 numbers below 1000 read the same backwards.')
})

test('without sessions the report is listed from the start, and says what to call first', async () => {
  using job = made()
  await using session = await connected(job.server, { era: 'stateless' })
  await session.call('submit', { kind: 'primes', size: 10 })
  await ended(job.queue, 1)
  expect((await toolOf(session, 'report'))?.description).toBe('Report on jobs that are done. Call jobs first.')
  expect(await session.text('report', { form: 'table', kind: 'primes' })).toContain('There are 4 primes below 10.')
})

test('a job with too many steps fails, and clear hides the tools again', async () => {
  using job = made({ steps: 1_000 })
  await using session = await connected(job.server)
  await session.call('submit', { kind: 'collatz', size: 10_000 })
  await ended(job.queue, 1)
  expect(await statesOf(session)).toEqual(['failed'])
  expect(await session.text('jobs', { which: 'failed' })).toContain('It was given up after 1000 steps. Submit a smaller one.')
  expect(await session.text('clear')).toMatch(/^Forgot 1 jobs\.\nNo longer listed: jobs, clear\./u)
  expect(await session.toolNames()).toEqual(['submit'])
})

describe('the queue', () => {
  test('runs one job at a time, in order, while the server stays responsive', async () => {
    using job = made()
    await using session = await connected(job.server)
    for (const size of [9_000_000, 10, 20]) await session.call('submit', { kind: 'primes', size })
    expect(await statesOf(session)).toEqual(['waiting', 'running'])
    expect(await session.data('jobs', { which: 'running' })).toMatchObject({ jobs: [{ id: 1 }] })
    expect(await session.data('jobs', { which: 'waiting' })).toMatchObject({ jobs: [{ id: 3 }, { id: 2 }] })
    await ended(job.queue, 3)
    expect(job.queue.jobs('done').map(({ id }) => id)).toEqual([3, 2, 1])
  })

  test('limits the number of queued and finished jobs', async () => {
    using job = made({ waiting: 2, ended: 2 })
    await using session = await connected(job.server)
    const submit = () => session.call('submit', { kind: 'primes', size: 10 })
    job.queue.submit('collatz', 200_000)
    job.queue.submit('primes', 10)
    job.queue.submit('primes', 10)
    await expect(submit()).rejects.toThrow('2 jobs are queued, which is the limit.')
    await expect.poll(() => job.queue.facts.read(), { timeout: 120_000 }).toEqual({ waiting: 0, running: 0, done: 2, failed: 0 })
    expect(job.queue.jobs('done').map(({ id }) => id)).toEqual([3, 2])
  })
})
