import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../test/runs.ts'
import { action, audit, connection, frame, log, request, snapshot } from '../../test/samples.ts'
import { kinds, type LogLevel, type Records } from '../records/records.ts'
import { Redactor } from '../redaction/redaction.ts'
import { noFilters } from './filters.ts'
import { defaultLimits, Recording, sizeOf } from './recording.ts'

const recordingOf = (entries: number): Recording =>
  new Recording({
    redactor: new Redactor(),
    limits: { logs: { entries, bytes: 1_000_000 }, network: { entries, bytes: 1_000_000 } },
  })

const nothing = { logs: [], network: [], sockets: [], actions: [], snapshots: [], audits: [] }

describe('counts', () => {
  test('match the contents of the buffers, for every kind', () => {
    const recording = recordingOf(100)
    recording.add('logs', log({ level: 'error' }))
    recording.add('logs', log())
    recording.add('network', request())
    recording.add('sockets', frame())
    recording.add('actions', action())
    recording.add('snapshots', snapshot())
    recording.add('audits', audit())
    recording.connection(connection())
    expect(recording.facts.read()).toMatchObject({
      errors: 1,
      logs: 2,
      network: 1,
      sockets: 1,
      actions: 1,
      snapshots: 1,
      connections: 1,
    })
  })

  test('are correct after messages, including errors, were evicted', () => {
    const levels = fc.constantFrom<LogLevel>('error', 'warning', 'log')
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 }), fc.array(levels, { maxLength: 60, size: 'max' }), (entries, given) => {
        const recording = recordingOf(entries)
        for (const level of given) recording.add('logs', log({ level }))
        const kept = given.slice(-entries)
        expect(recording.facts.read()).toMatchObject({
          logs: kept.length,
          errors: kept.filter((level) => level === 'error').length,
        })
        expect(recording.of('logs').evicted).toBe(given.length - kept.length)
      }),
    )
  })

  test('follow lower limits and clearing immediately', () => {
    const recording = recordingOf(100)
    for (let i = 0; i < 10; i++) recording.add('logs', log({ level: i % 2 === 0 ? 'error' : 'log' }))
    recording.limit({ logs: { entries: 3, bytes: 1_000_000 } })
    expect(recording.facts.read()).toMatchObject({ logs: 3, errors: 1 })
    expect(recording.of('logs').evicted).toBe(7)
    recording.clear(['logs'])
    expect(recording.facts.read()).toMatchObject({ logs: 0, errors: 0 })
    expect(recording.of('logs').evicted).toBe(7)
  })
})

test('sequence numbers are shared by all kinds, and clearing does not reset them', () => {
  const recording = recordingOf(100)
  expect([recording.add('logs', log())?.seq, recording.add('network', request())?.seq]).toEqual([1, 2])
  recording.clear()
  expect(recording.add('actions', action())?.seq).toBe(3)
})

test('filtered records get no sequence number and are counted', () => {
  const recording = recordingOf(100)
  recording.filters = { ...noFilters, levels: ['error'] }
  expect(recording.add('logs', log({ level: 'debug' }))).toBeUndefined()
  expect(recording.add('logs', log({ level: 'error' }))?.seq).toBe(1)
  expect(recording.filtered).toBe(1)
})

describe('secrets', () => {
  test('are redacted in records, WebSockets and pending requests before they are stored', () => {
    const recording = recordingOf(100)
    recording.add('logs', log({ text: 'password=hunter2' }))
    recording.connection(connection({ url: 'wss://h/?token=hunter2', closedBecause: 'token=hunter2' }))
    recording.setPending('1', { method: 'GET', url: 'https://h/?token=hunter2', type: 'fetch', startedAt: 1, tab: 'tab-1' })
    const kept = JSON.stringify([[...recording.of('logs')], recording.connections(), recording.pending()])
    expect(kept).not.toContain('hunter2')
    expect(recording.of('logs').newest?.text).toBe('password=[redacted]')
  })

  test('of a pattern added later are redacted in stored records, which keep their numbers', () => {
    const recording = recordingOf(100)
    recording.add('logs', log({ text: 'customer ACME-123', level: 'error' }))
    recording.add('actions', action({ action: 'input', value: 'ACME-123' }))
    recording.connection(connection({ url: 'wss://h/ACME-123' }))
    recording.redactor.add({ name: 'customer', pattern: 'ACME-\\d+' })
    recording.redactAgain()
    expect(JSON.stringify([[...recording.of('logs')], [...recording.of('actions')], recording.connections()])).not.toContain(
      'ACME',
    )
    expect([...recording.of('logs'), ...recording.of('actions')].map(({ seq }) => seq)).toEqual([1, 2])
    expect(recording.facts.read()).toMatchObject({ logs: 1, errors: 1, actions: 1 })
  })
})

describe('restoring', () => {
  test('replaces the current records, and new records come after the restored ones', () => {
    const recording = recordingOf(100)
    recording.add('logs', log({ level: 'error' }))
    recording.connection(connection({ id: 'old' }))
    const logs = [7, 9].map((seq) => ({ seq, ...log({ level: 'error', text: `restored ${seq}` }) }))
    recording.restore({ ...nothing, logs }, [connection({ id: 'kept' })])
    expect(recording.facts.read()).toMatchObject({ logs: 2, errors: 2, connections: 1 })
    expect(recording.connections().map(({ id }) => id)).toEqual(['kept'])
    expect(recording.add('logs', log())?.seq).toBe(10)
    expect([...recording.of('logs')].map(({ seq }) => seq)).toEqual([7, 9, 10])
  })

  test('never reuses a sequence number', () => {
    const recording = recordingOf(100)
    for (let i = 0; i < 20; i++) recording.add('logs', log())
    recording.restore({ ...nothing, logs: [{ seq: 2, ...log() }] }, [])
    expect(recording.add('logs', log())?.seq).toBe(21)
  })

  test('respects the limits', () => {
    const recording = recordingOf(3)
    recording.restore({ ...nothing, logs: [1, 2, 3, 4, 5].map((seq) => ({ seq, ...log({ level: 'error' }) })) }, [])
    expect([...recording.of('logs')].map(({ seq }) => seq)).toEqual([3, 4, 5])
    expect(recording.facts.read()).toMatchObject({ logs: 3, errors: 3 })
  })
})

describe('WebSockets', () => {
  test('are limited in number, open and closed; the oldest are evicted first', () => {
    const recording = recordingOf(100)
    for (let i = 1; i <= 30; i++) recording.connection(connection({ id: `open-${i}` }))
    for (let i = 1; i <= 30; i++) recording.connection(connection({ id: `closed-${i}`, state: 'closed' }))
    const ids = recording.connections().map(({ id }) => id)
    expect(ids).toHaveLength(30)
    expect(ids.slice(0, 20)).toEqual(Array.from({ length: 20 }, (_, i) => `open-${i + 11}`))
    expect(ids.slice(20)).toEqual(Array.from({ length: 10 }, (_, i) => `closed-${i + 21}`))
    expect(recording.facts.read().connections).toBe(30)
  })
})

test('clearing removes closed WebSockets only', () => {
  const recording = recordingOf(100)
  for (const state of ['connecting', 'open', 'closed'] as const) recording.connection(connection({ id: state, state }))
  recording.clear(['logs'])
  expect(recording.facts.read().connections).toBe(3)
  recording.clear()
  expect(recording.connections().map(({ id }) => id)).toEqual(['connecting', 'open'])
  expect(recording.facts.read()).toMatchObject({ connections: 2, sockets: 0 })
})

test('pending requests are limited', () => {
  const recording = recordingOf(100)
  const pending = { method: 'GET', url: 'https://h/', type: 'fetch', startedAt: 1, tab: 'tab-1' }
  for (let i = 0; i < 5_000; i++) recording.setPending(String(i), pending)
  expect(recording.pending()).toHaveLength(1_000)
  recording.setPending('0', undefined)
  expect(recording.pending()).toHaveLength(999)
})

test('the size of a record is about that of its texts', () => {
  const small = sizeOf({ seq: 1, ...log({ text: '' }) } satisfies Records['logs'])
  expect(sizeOf({ seq: 1, ...log({ text: 'x'.repeat(1_000) }) }) - small).toBe(2_000)
})

test('any number of records stays within the limits, with correct counts', () => {
  const records = runs({ long: 1_000_000, sample: 100_000 })
  const recording = new Recording({ redactor: new Redactor() })
  const entries = [
    log({ level: 'error', text: 'failed to load' }),
    log({ text: 'loaded' }),
    log({ level: 'warning', text: 'slow' }),
  ]
  for (let i = 0; i < records; i++) recording.add('logs', entries[i % 3] ?? log())
  const { entries: max, bytes } = defaultLimits.logs
  expect(recording.of('logs').length).toBe(max)
  expect(recording.of('logs').bytes).toBeLessThanOrEqual(bytes)
  expect(recording.of('logs').evicted).toBe(records - max)
  expect(recording.facts.read().errors).toBe([...recording.of('logs')].filter(({ level }) => level === 'error').length)
  expect(kinds.filter((kind) => recording.of(kind).length > 0)).toEqual(['logs'])
}, 300_000)
