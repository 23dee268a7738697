import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { action, audit, frame, log, request, snapshot } from '../../test/samples.ts'
import { Recording } from '../recording/recording.ts'
import type { Kind } from '../records/records.ts'
import { Redactor } from '../redaction/redaction.ts'
import { replyLimit, visibleJson } from '../reply/reply.ts'
import { type PageQuery, page } from './observing.ts'

const recordingOf = (entries = 1_000): Recording =>
  new Recording({
    redactor: new Redactor(),
    limits: { logs: { entries, bytes: 100_000_000 }, network: { entries, bytes: 100_000_000 } },
  })

const noted = (count: number, entries?: number): Recording => {
  const recording = recordingOf(entries)
  for (let i = 1; i <= count; i++) recording.add('logs', log({ text: `line ${i}` }))
  return recording
}

const places = (records: readonly object[]): number[] => records.map((record) => ('seq' in record ? Number(record.seq) : 0))
const countNodes = <K extends Kind>(recording: Recording, kind: K, query?: PageQuery<K>): number[] =>
  places(page(recording, kind, query).records)

describe('a page', () => {
  test('has the newest twenty records, newest first, and a cursor to the older ones', () => {
    const recording = noted(45)
    const first = page(recording, 'logs')
    const second = page(recording, 'logs', { cursor: first.next_cursor ?? '' })
    const third = page(recording, 'logs', { cursor: second.next_cursor ?? '' })
    expect(places(first.records)).toEqual(Array.from({ length: 20 }, (_, i) => 45 - i))
    expect(places(second.records)).toEqual(Array.from({ length: 20 }, (_, i) => 25 - i))
    expect(places(third.records)).toEqual([5, 4, 3, 2, 1])
    expect(third).not.toHaveProperty('next_cursor')
    expect(first).toMatchObject({ latest: 45 })
    expect(first).not.toHaveProperty('missed')
  })

  test('has no cursor when it contains the last record', () => {
    expect(page(noted(20), 'logs')).not.toHaveProperty('next_cursor')
    expect(page(noted(0), 'logs')).toEqual({ records: [], latest: 0 })
  })

  test.each([0, 201, 1.5, -1, Number.NaN])('with a limit of %s is rejected', (limit) => {
    expect(() => page(noted(1), 'logs', { limit })).toThrow('Use an integer from 1 to 200.')
  })

  test('is never longer than the reply limit, and continues where it stopped', () => {
    const recording = recordingOf()
    for (let i = 0; i < 150; i++) recording.add('logs', log({ text: '\u202e'.repeat(390), url: 'https://h/' }))
    const seen: number[] = []
    let cursor: string | undefined
    for (let i = 0; i < 100; i++) {
      const next = page(recording, 'logs', { limit: 200, ...(cursor !== undefined && { cursor }) })
      expect(visibleJson(next).length).toBeLessThanOrEqual(replyLimit)
      expect(next.records.length).toBeGreaterThan(0)
      seen.push(...places(next.records))
      cursor = next.next_cursor
      if (cursor === undefined) break
    }
    expect(seen).toEqual(Array.from({ length: 150 }, (_, i) => 150 - i))
  })

  test('contains a truncated record if that record alone is too long', () => {
    const recording = recordingOf()
    const long = { mimeType: 'text/plain', bytes: 200_000, text: '\u202ex'.repeat(100_000) }
    recording.add('network', request({ requestBody: long, responseBody: long }))
    recording.add('network', request({ requestBody: long, responseBody: long }))
    const next = page(recording, 'network', { match: { bodies: 'full' } })
    expect(places(next.records)).toEqual([2])
    expect(visibleJson(next).length).toBeLessThanOrEqual(replyLimit)
    expect(next.next_cursor).toBeDefined()
  })

  test('shows more of each record if the limit is small', () => {
    const recording = recordingOf()
    recording.add('logs', log({ text: 'x'.repeat(8_000) }))
    const [among] = page(recording, 'logs', { limit: 100 }).records
    const [alone] = page(recording, 'logs', { limit: 1, match: { seq: 1 } }).records
    expect(among).toMatchObject({ text: `${'x'.repeat(399)}…` })
    expect(alone).toMatchObject({ text: 'x'.repeat(8_000) })
  })
})

describe('since', () => {
  const at = (recording: Recording, times: readonly number[]): void => {
    for (const time of times) recording.add('logs', log({ at: time }))
  }
  const noon = Date.UTC(2026, 0, 31, 12)

  test('a sequence number returns the records after it', () => {
    const recording = noted(5)
    const { latest } = page(recording, 'logs')
    expect(countNodes(recording, 'logs', { since: latest })).toEqual([])
    recording.add('network', request())
    recording.add('logs', log())
    expect(countNodes(recording, 'logs', { since: latest })).toEqual([7])
    expect(countNodes(recording, 'logs', { since: String(latest) })).toEqual([7])
    expect(countNodes(recording, 'logs', { since: 0 })).toHaveLength(6)
  })

  test.each([
    ['2026-01-31T11:59:00Z', [3, 2]],
    ['2026-01-31T12:59:00+01:00', [3, 2]],
    ['2026-01-31T11:59', [3, 2]],
    ['2026-01-31', [3, 2, 1]],
    ['30s', [3]],
    ['1m', [3, 2]],
    ['90 s', [3, 2]],
    ['1.5h', [3, 2, 1]],
    ['500ms', [3]],
    ['1d', [3, 2, 1]],
  ])('%s returns what was recorded from then on', (since, expected) => {
    const recording = recordingOf()
    at(recording, [noon - 3_600_000, noon - 60_000, noon])
    expect(countNodes(recording, 'logs', { since, now: noon })).toEqual(expected)
  })

  test.each(['yesterday', '', '-5', '5 weeks', '2026-13-45T00:00:00Z', 'Infinity', '1e3', '99999999999999999999'])(
    '%j is rejected with the accepted formats',
    (since) => {
      expect(() => page(noted(1), 'logs', { since })).toThrow(
        'a time such as 2026-01-31T09:30:00Z, or a duration such as 30s, 5m or 1h',
      )
    },
  )

  test('a sequence number above the latest one belongs to an earlier run', () => {
    expect(() => page(noted(3), 'logs', { since: 4 })).toThrow('No record has number 4 yet: the latest is 3.')
  })

  test('a duration has the same meaning on every page', () => {
    const recording = recordingOf()
    at(recording, [noon - 50_000, noon - 40_000, noon - 30_000])
    const first = page(recording, 'logs', { since: '1m', limit: 1, now: noon })
    const second = page(recording, 'logs', { since: '1m', limit: 5, now: noon + 25_000, cursor: first.next_cursor ?? '' })
    expect([...places(first.records), ...places(second.records)]).toEqual([3, 2, 1])
  })
})

describe('a cursor', () => {
  const cursor = (recording: Recording): string =>
    page(recording, 'logs', { limit: 2, match: { level: 'log' } }).next_cursor ?? ''

  test.each(['', 'abc', '1-1-b-', 'zzzzzzzzzzzzzzzzz', '💥', '../../etc/passwd', '1-1-q5-0123456789ab'])(
    'such as %j is invalid',
    (made) => {
      expect(() => page(noted(5), 'logs', { cursor: made })).toThrow('Invalid cursor.')
    },
  )

  test('is valid only for the same query', () => {
    const recording = noted(5)
    const made = cursor(recording)
    expect(countNodes(recording, 'logs', { cursor: made, match: { level: 'log' } })).toEqual([3, 2, 1])
    expect(() => page(recording, 'logs', { cursor: made })).toThrow('Use it with the same mode and filters')
    expect(() => page(recording, 'logs', { cursor: made, match: { level: 'error' } })).toThrow('another query')
    expect(() => page(recording, 'network', { cursor: made })).toThrow('another query')
  })

  test('of another run is rejected', () => {
    expect(() => page(noted(5), 'logs', { cursor: cursor(noted(5)), match: { level: 'log' } })).toThrow('an earlier run')
  })

  test('excludes records that arrive meanwhile, and reports dropped ones', () => {
    const recording = noted(5)
    const first = page(recording, 'logs', { limit: 2 })
    const loaded = [1, 2, 3].map((seq) => ({ seq, ...log() }))
    recording.restore({ logs: loaded, network: [], sockets: [], actions: [], snapshots: [], audits: [] }, [])
    expect(page(recording, 'logs', { cursor: first.next_cursor ?? '' })).toMatchObject({ records: [], missed: 3 })
  })

  test('can be used with a higher level of detail', () => {
    const recording = recordingOf()
    for (let i = 0; i < 3; i++) recording.add('network', request())
    const { next_cursor = '' } = page(recording, 'network', { limit: 1, match: { type: 'fetch' } })
    expect(countNodes(recording, 'network', { cursor: next_cursor, match: { type: 'fetch', bodies: 'full' } })).toEqual([2, 1])
  })
})

describe('dropped records', () => {
  test('since a returned sequence number are counted exactly', () => {
    const recording = noted(5, 10)
    const { latest } = page(recording, 'logs')
    for (let i = 0; i < 3; i++) recording.add('network', request())
    for (let i = 0; i < 17; i++) recording.add('logs', log())
    const next = page(recording, 'logs', { since: latest, limit: 200 })
    expect(next.records).toHaveLength(10)
    expect(next.missed).toBe(7)
  })

  test('before the sequence number are not counted as missed', () => {
    const recording = noted(15, 10)
    const { latest } = page(recording, 'logs')
    recording.add('logs', log())
    expect(page(recording, 'logs', { since: latest })).not.toHaveProperty('missed')
  })

  test('since any other number is an upper bound', () => {
    expect(page(noted(30, 10), 'logs', { since: 12 }).missed).toBe(8)
    expect(page(noted(30, 10), 'logs', { since: 25 })).not.toHaveProperty('missed')
  })

  test('within a duration are reported if no older record is left', () => {
    const recording = recordingOf(2)
    for (let i = 0; i < 5; i++) recording.add('logs', log({ at: 1_000 * i }))
    expect(page(recording, 'logs', { since: '10s', now: 5_000 }).missed).toBe(3)
    expect(page(recording, 'logs', { since: '1500ms', now: 5_000 })).not.toHaveProperty('missed')
  })
})

describe('filters apply', () => {
  const recording = recordingOf()
  recording.add('logs', log({ level: 'error', text: 'Failed to LOAD', from: 'exception' }))
  recording.add('logs', log({ level: 'warning', text: 'slow', tab: 'tab-2' }))
  recording.add('logs', log({ level: 'error', text: 'oops', stack: 'at load (a.js:1:1)' }))
  recording.add('network', request({ status: 200, type: 'document' }))
  recording.add('network', request({ status: 404, method: 'POST', url: 'https://h/API/x' }))
  recording.add('network', request({ status: 503 }))
  recording.add('network', request({ status: 0, failure: 'net::ERR_FAILED' }))
  recording.add('sockets', frame({ event: 'opened', text: undefined as never }))
  recording.add('sockets', frame({ event: 'sent', text: 'hello' }))
  recording.add('sockets', frame({ event: 'received', text: 'Hello', socket: 'socket-2' }))
  recording.add('actions', action())
  recording.add('actions', action({ action: 'input', value: 'x' }))
  recording.add('snapshots', snapshot({ url: 'https://h/a' }))
  recording.add('snapshots', snapshot({ url: 'https://h/b' }))
  recording.add('audits', audit())

  test.each([
    [{ level: 'error' }, [3, 1]],
    [{ level: ['error', 'warning'] }, [3, 2, 1]],
    [{ contains: 'load' }, [3, 1]],
    [{ from: 'exception' }, [1]],
    [{ tab: 'tab-2' }, [2]],
    [{ seq: 3 }, [3]],
  ] as const)('to logs: %o', (match, expected) => {
    expect(countNodes(recording, 'logs', { match })).toEqual(expected)
  })

  test.each([
    [{ status: 404 }, [5]],
    [{ status: '404' }, [5]],
    [{ status: '4xx' }, [5]],
    [{ status: '5XX' }, [6]],
    [{ status: 'failed' }, [7]],
    [{ status: 'error' }, [7, 6, 5]],
    [{ method: 'post' }, [5]],
    [{ type: 'document' }, [4]],
    [{ url: '/api/x' }, [5]],
  ] as const)('to requests: %o', (match, expected) => {
    expect(countNodes(recording, 'network', { match })).toEqual(expected)
  })

  test.each(['6xx', 'bad', '', '4x', 1000])('a status of %j is rejected with the accepted values', (status) => {
    expect(() => page(recording, 'network', { match: { status } })).toThrow('Give one such as 404, a class such as "4xx"')
  })

  test('to WebSocket frames, actions, page loads and audits', () => {
    expect(countNodes(recording, 'sockets', { match: { direction: 'sent' } })).toEqual([9])
    expect(countNodes(recording, 'sockets', { match: { socket: 'socket-2' } })).toEqual([10])
    expect(countNodes(recording, 'sockets', { match: { contains: 'HELLO' } })).toEqual([10, 9])
    expect(countNodes(recording, 'actions', { match: { action: 'input' } })).toEqual([12])
    expect(countNodes(recording, 'snapshots', { match: { url: '/b' } })).toEqual([14])
    expect(countNodes(recording, 'audits', { match: { url: 'nowhere' } })).toEqual([])
  })
})

describe('a request in a list', () => {
  const recording = recordingOf()
  const body = { mimeType: 'application/json', bytes: 900, text: `{"a":"${'x'.repeat(700)}"}` }
  recording.add('network', request({ responseBody: body }))
  const shownWith = (match: NonNullable<PageQuery<'network'>['match']>): object | undefined =>
    page(recording, 'network', { match }).records[0]

  test('is short', () => {
    expect(page(recording, 'network').records).toEqual([
      {
        seq: 1,
        at: '2026-01-31T09:30:00.000Z',
        tab: 'tab-1',
        method: 'GET',
        url: 'https://shop.example/api/items',
        status: 200,
        type: 'fetch',
        ms: 25,
        bytes: 900,
      },
    ])
  })

  test('has bodies and headers on request', () => {
    expect(shownWith({ bodies: 'cut' })).toMatchObject({
      response_body: { bytes: 900, cut: true, text: `${body.text.slice(0, 499)}…` },
    })
    expect(shownWith({ bodies: 'cut' })).not.toHaveProperty('request_headers')
    expect(shownWith({ bodies: 'full' })).toMatchObject({
      request_headers: ['accept: */*'],
      response_body: { type: 'application/json', bytes: 900, text: body.text },
    })
    expect(shownWith({ headers: true })).toMatchObject({ response_headers: ['content-type: application/json'] })
    expect(shownWith({ headers: true })).not.toHaveProperty('response_body')
  })
})

test('pages joined by cursors contain every record once, and dropped records are counted', () => {
  const step = fc.record({
    limit: fc.integer({ min: 1, max: 7 }),
    arrivals: fc.integer({ min: 0, max: 9 }),
    others: fc.integer({ min: 0, max: 2 }),
  })
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 30 }),
      fc.integer({ min: 0, max: 40 }),
      fc.boolean(),
      fc.option(fc.integer({ min: 0, max: 40 }), { nil: undefined }),
      fc.array(step, { minLength: 1, maxLength: 12, size: 'max' }),
      (entries, count, isFiltered, since, steps) => {
        const recording = recordingOf(entries)
        const add = (i: number): void => void recording.add('logs', log({ level: i % 3 === 0 ? 'error' : 'log' }))
        for (let i = 0; i < count; i++) add(i)
        const question = { ...(isFiltered && { match: { level: 'error' as const } }) }
        const floor = since === undefined ? undefined : Math.min(since, recording.seq)
        const there = [...recording.of('logs')].filter(({ seq }) => floor === undefined || seq > floor)
        const wanted = there.filter(({ level }) => !isFiltered || level === 'error').map(({ seq }) => seq)
        const seen: number[] = []
        let missed = 0
        let next = page(recording, 'logs', {
          ...question,
          limit: steps[0]?.limit ?? 1,
          ...(floor !== undefined && { since: floor }),
        })
        seen.push(...places(next.records))
        for (let i = 0; next.next_cursor !== undefined && i < 200; i++) {
          const { arrivals, others, limit } = steps[i % steps.length] ?? { arrivals: 0, others: 0, limit: 5 }
          for (let n = 0; n < arrivals; n++) add(n)
          for (let n = 0; n < others; n++) recording.add('network', request())
          next = page(recording, 'logs', { ...question, limit, cursor: next.next_cursor })
          seen.push(...places(next.records))
          missed += next.missed ?? 0
        }
        // Each record once, newest first, and none that did not match at the beginning.
        expect(seen).toEqual([...new Set(seen)].toSorted((a, b) => b - a))
        expect(wanted).toEqual(expect.arrayContaining(seen))
        // Every missing record was counted as dropped; without filters the count is exact.
        const lost = wanted.length - seen.length
        expect(lost).toBeLessThanOrEqual(missed)
        expect(isFiltered || lost === missed).toBe(true)
      },
    ),
    { numRuns: 500 },
  )
})

test('polling from the latest sequence number returns every record once; dropped records are counted exactly', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10 }),
      fc.array(fc.integer({ min: 0, max: 25 }), { maxLength: 15, size: 'max' }),
      (entries, bursts) => {
        const recording = recordingOf(entries)
        let { latest } = page(recording, 'logs')
        const seen: number[] = []
        let missed = 0
        for (const burst of bursts) {
          for (let i = 0; i < burst; i++) {
            recording.add('logs', log())
            if (i % 4 === 0) recording.add('actions', action())
          }
          const next = page(recording, 'logs', { since: latest, limit: 200 })
          seen.push(...places(next.records).toReversed())
          missed += next.missed ?? 0
          latest = next.latest
        }
        expect(seen).toEqual([...new Set(seen)])
        expect(seen.length + missed).toBe(bursts.reduce((sum, burst) => sum + burst, 0))
      },
    ),
  )
})
