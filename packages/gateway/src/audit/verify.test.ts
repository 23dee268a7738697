import { appendFile, readFile, readlink, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/runs.ts'
import { gatewayFolder } from '../../test/gateway-file.ts'
import { AuditFile, type AuditFileOptions } from './audit-file.ts'
import { chainFiles } from './chain-files.ts'
import { encodeRecord, hashLine, parseRecord } from './record.ts'
import { verifyChain } from './verify.ts'

/** Writes calls with a process that stops cleanly. */
async function written(path: string, calls: number, options: Partial<AuditFileOptions> = {}): Promise<void> {
  const file = new AuditFile(path, { onStatus: (problem) => expect(problem).toBeUndefined(), ...options })
  for (let n = 0; n < calls; n++) expect(await file.write('call', { upstream: 'up', tool: 'x', n })).toBe(true)
  await file.close()
}

const linesOf = async (path: string): Promise<readonly Buffer[]> => {
  const bytes = await readFile(path)
  const lines: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0x0a, at) + 1
    lines.push(bytes.subarray(at, end))
    at = end
  }
  return lines
}

test('a restart continues the chain', async () => {
  await using folder = await gatewayFolder()
  const path = join(folder.path, 'audit.jsonl')
  await written(path, 2)
  await written(path, 2)
  const report = await verifyChain(path)
  expect(report).toMatchObject({ records: 5, first: 1, last: { seq: 5 }, notes: [], files: [path] })
  expect(report.problem).toBeUndefined()
})

test('rotated files stay linked, and files that are no longer kept are not missed', async () => {
  await using folder = await gatewayFolder()
  const path = join(folder.path, 'audit.jsonl')
  await written(path, 60, { maxBytes: 1_024, keep: 3 })
  const names = (await chainFiles(path)).map((file) => basename(file.path))
  expect(names).toHaveLength(4)
  expect(names.at(-1)).toBe('audit.jsonl')
  const report = await verifyChain(path)
  expect(report.problem).toBeUndefined()
  expect(report.first).toBeGreaterThan(10)
  const first = parseRecord((await linesOf(path))[0]?.subarray(0, -1) ?? Buffer.alloc(0))
  const previous = await linesOf(join(folder.path, names.at(-2) ?? ''))
  expect(first).toMatchObject({ type: 'file', previousFile: names.at(-2), keptFrom: report.first })
  expect(first?.previous).toBe(hashLine(previous.at(-1)?.subarray(0, -1) ?? ''))
  await rm(join(folder.path, names[0] ?? ''))
  expect((await verifyChain(path)).problem).toMatchObject({ kind: 'missing', seq: report.first })
})

test('a file in the middle that is deleted is missed, and one that another program renamed is found', async () => {
  await using folder = await gatewayFolder()
  const path = join(folder.path, 'audit.jsonl')
  await written(path, 40, { maxBytes: 1_024, keep: 100 })
  await rename(`${path}.2`, `${path}.old`)
  expect((await verifyChain(path)).problem).toBeUndefined()
  const [, second] = await chainFiles(path)
  await rm(`${path}.old`)
  expect((await verifyChain(path)).problem).toMatchObject({
    kind: 'missing',
    seq: second?.first?.seq,
    file: `${path}.3`,
    line: 1,
  })
})

test('a partial last line is kept and recorded, and nothing else is rewritten', async () => {
  await using folder = await gatewayFolder()
  const path = join(folder.path, 'audit.jsonl')
  await written(path, 3)
  const before = await readFile(path, 'utf8')
  await appendFile(path, '{"seq":5,"at":"20')
  expect((await verifyChain(path)).problem).toMatchObject({ kind: 'incomplete', seq: 5, line: 5 })
  await written(path, 1)
  const after = await readFile(path, 'utf8')
  expect(after.startsWith(`${before}{"seq":5,"at":"20\n`)).toBe(true)
  const report = await verifyChain(path)
  expect(report.problem).toBeUndefined()
  expect(report.notes).toEqual([expect.stringContaining('Record 5: an incomplete line before it')])
  expect(parseRecord(Buffer.from(after.split('\n')[5] ?? ''))).toMatchObject({ seq: 5, type: 'recovered', partialBytes: 17 })
})

test('a partial first line, and a last record that lacks only its line feed, are repaired too', async () => {
  await using folder = await gatewayFolder()
  const path = join(folder.path, 'audit.jsonl')
  await writeFile(path, '{"seq"')
  await written(path, 2)
  expect(await verifyChain(path)).toMatchObject({ records: 3, notes: [expect.any(String)] })
  await rm(`${path}.head`)
  await truncate(path, (await readFile(path)).length - 1)
  await written(path, 1)
  const report = await verifyChain(path)
  expect(report).toMatchObject({ records: 4, last: { seq: 4 } })
  expect(report.problem).toBeUndefined()
})

test('records that are removed while the gateway is stopped are reported for good', async () => {
  await using folder = await gatewayFolder()
  const path = join(folder.path, 'audit.jsonl')
  await written(path, 5)
  const lines = await linesOf(path)
  await writeFile(path, Buffer.concat(lines.slice(0, 3)))
  const missing = { kind: 'missing', seq: 4 }
  expect((await verifyChain(path)).problem).toMatchObject(missing)
  await written(path, 2)
  expect((await verifyChain(path)).problem).toMatchObject({
    ...missing,
    message: expect.stringContaining('records 4 to 6 were gone'),
  })
  await rm(path)
  expect((await verifyChain(path)).problem).toMatchObject({ kind: 'missing', seq: 1 })
})

test('what someone else appends or cuts off while the gateway runs is reported', async () => {
  await using folder = await gatewayFolder()
  const path = join(folder.path, 'audit.jsonl')
  const file = new AuditFile(path, { onStatus: () => undefined })
  await file.write('call', { n: 1 })
  const { position } = file
  const forged = encodeRecord(position ?? { seq: 0, hash: '' }, { at: new Date().toISOString(), type: 'call', n: 2 })
  await appendFile(path, forged.line)
  await file.write('call', { n: 3 })
  expect((await verifyChain(path)).problem).toMatchObject({ kind: 'inserted', seq: 3 })
  await file.close()

  const other = join(folder.path, 'other.jsonl')
  const cut = new AuditFile(other, { onStatus: () => undefined })
  for (const n of [1, 2, 3]) await cut.write('call', { n })
  await writeFile(other, Buffer.concat((await linesOf(other)).slice(0, 2)))
  expect((await verifyChain(other, { live: cut.position })).problem).toMatchObject({ kind: 'missing', seq: 3 })
  await cut.write('call', { n: 4 })
  expect((await verifyChain(other)).problem).toMatchObject({ kind: 'missing', seq: 3 })
  await cut.close()
})

test('a file of an earlier version is kept, and the chain begins in a new one', async () => {
  await using folder = await gatewayFolder()
  const path = join(folder.path, 'audit.jsonl')
  const old = '{"at":"2026-01-01T00:00:00.000Z","client":"anonymous","outcome":"ok"}\n'
  await writeFile(path, old)
  await written(path, 2)
  expect(await readFile(`${path}.1`, 'utf8')).toBe(old)
  const report = await verifyChain(path)
  expect(report).toMatchObject({
    records: 3,
    first: 1,
    notes: [expect.stringContaining('audit.jsonl.1 was written without a chain')],
  })
  expect(report.problem).toBeUndefined()
})

test('two writers at the same time have separate chains, and the next one continues the first', async () => {
  await using folder = await gatewayFolder()
  const path = join(folder.path, 'audit.jsonl')
  const [one, two] = [1, 2].map(() => new AuditFile(path, { onStatus: () => undefined }))
  for (let n = 0; n < 5; n++) await Promise.all([one?.write('call', { n }), two?.write('call', { n })])
  const second = join(folder.path, 'audit-2.jsonl')
  expect(new Set([one?.position?.file, two?.position?.file])).toEqual(new Set([second, path]))
  await Promise.all([one?.close(), two?.close()])
  await written(path, 1)
  const reports = await Promise.all([path, second].map((each) => verifyChain(each)))
  expect(reports.map(({ records, problem }) => ({ records, problem }))).toEqual([{ records: 7 }, { records: 6 }])
})

test('a lock that a killed process left is taken over', async () => {
  await using folder = await gatewayFolder()
  const path = join(folder.path, 'audit.jsonl')
  // An ID above the maximum of every system.
  const namespace = await readlink('/proc/self/ns/pid').catch(() => '')
  const lock = { pid: 2 ** 30, host: hostname(), namespace, id: 'gone' }
  await writeFile(`${path}.lock`, JSON.stringify(lock))
  await written(path, 1)
  expect((await chainFiles(path)).map((file) => file.path)).toEqual([path])
})

type Change = (lines: readonly Buffer[]) => { readonly bytes: Buffer; readonly seq: number }

const at = (fraction: number, count: number): number => Math.min(count - 1, Math.floor(fraction * count))

function lineAt(lines: readonly Buffer[], offset: number): number {
  let end = 0
  return lines.findIndex((line) => {
    end += line.length
    return end > offset
  })
}

const fraction = fc.double({ min: 0, max: 1, noNaN: true })

/** Changes by sequence number of the first record they affect; the nth line is record n. */
const changes: { readonly [name: string]: fc.Arbitrary<Change> } = {
  'an altered byte': fc.tuple(fraction, fc.integer({ min: 1, max: 255 })).map(([place, by]) => (lines) => {
    const bytes = Buffer.concat(lines)
    const offset = at(place, bytes.length)
    bytes[offset] = ((bytes[offset] ?? 0) + by) % 256
    return { bytes, seq: lineAt(lines, offset) + 1 }
  }),
  'a removed byte': fraction.map((place) => (lines) => {
    const bytes = Buffer.concat(lines)
    const offset = at(place, bytes.length)
    return { bytes: Buffer.concat([bytes.subarray(0, offset), bytes.subarray(offset + 1)]), seq: lineAt(lines, offset) + 1 }
  }),
  'an inserted byte': fc.tuple(fraction, fc.integer({ min: 0, max: 255 })).map(([place, byte]) => (lines) => {
    const bytes = Buffer.concat(lines)
    const offset = at(place, bytes.length + 1)
    const line = offset === bytes.length ? lines.length : lineAt(lines, offset)
    return { bytes: Buffer.concat([bytes.subarray(0, offset), Buffer.from([byte]), bytes.subarray(offset)]), seq: line + 1 }
  }),
  'a removed line': fraction.map((place) => (lines) => {
    const index = at(place, lines.length)
    return { bytes: Buffer.concat(lines.toSpliced(index, 1)), seq: index + 1 }
  }),
  'two swapped lines': fc.tuple(fraction, fraction).map(([place, other]) => (lines) => {
    const [one, two] = [at(place, lines.length - 1), at(other, lines.length - 1)].toSorted((a, b) => a - b)
    const [first = 0, second = 0] = one === two ? [one, (two ?? 0) + 1] : [one, two]
    const swapped = lines.map((line, index) => (index === first ? lines[second] : index === second ? lines[first] : line) ?? line)
    return { bytes: Buffer.concat(swapped), seq: first + 1 }
  }),
  'a line that is written twice': fc.tuple(fraction, fraction).map(([place, target]) => (lines) => {
    const copied = lines[at(place, lines.length)] ?? Buffer.alloc(0)
    const index = at(target, lines.length + 1)
    const seq = parseRecord(copied.subarray(0, -1))?.seq ?? 0
    // A copy of a later record shows that the next one is missing; a copy of an earlier one is out of place.
    return { bytes: Buffer.concat(lines.toSpliced(index, 0, copied)), seq: seq > index ? index + 1 : seq }
  }),
  'an inserted line': fc.tuple(fraction, fc.string({ maxLength: 40 })).map(([place, text]) => (lines) => {
    const index = at(place, lines.length + 1)
    const line = Buffer.from(`${text.replaceAll('\n', ' ')}\n`)
    return { bytes: Buffer.concat(lines.toSpliced(index, 0, line)), seq: index + 1 }
  }),
  'an inserted record that follows on the one before it': fraction.map((place) => (lines) => {
    const index = 1 + at(place, lines.length - 1)
    const before = lines[index - 1]?.subarray(0, -1) ?? Buffer.alloc(0)
    const position = { seq: index, hash: hashLine(before) }
    const { line } = encodeRecord(position, { at: '2026-01-01T00:00:00.000Z', type: 'call', forged: true })
    return { bytes: Buffer.concat(lines.toSpliced(index, 0, line)), seq: index + 1 }
  }),
}

test.each(Object.entries(changes))('AT-S09-1: %s is detected, and the first affected record is named', async (_name, change) => {
  await using folder = await gatewayFolder()
  const path = join(folder.path, 'audit.jsonl')
  await written(path, 12)
  const lines = await linesOf(path)
  const original = Buffer.concat(lines)
  await fc.assert(
    fc.asyncProperty(change, async (apply) => {
      const { bytes, seq } = apply(lines)
      fc.pre(!bytes.equals(original))
      await writeFile(path, bytes)
      const { problem } = await verifyChain(path)
      expect(problem).toMatchObject({ seq, file: path })
    }),
    propertyRuns({ long: 5_000, sample: 150 }),
  )
})
