import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@unfold-mcp/client'
import type { Tool } from '@unfold-mcp/core'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { propertyRuns } from '../../../test/runs.ts'
import { UpstreamSource } from '../src/catalog/source.ts'
import { configSchema } from '../src/config/schema.ts'
import { TrustGate } from '../src/trust/gate.ts'
import { memoryTrustStore } from '../src/trust/records/memory-store.ts'
import { sqliteTrustStore } from '../src/trust/records/sqlite-store.ts'
import type { TrustStore } from '../src/trust/records/store.ts'

const config = configSchema.parse({ mcpServers: { notes: { command: 'notes' }, other: { command: 'other' } }, trust: 'pin' })
const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }

let folder: string
let files = 0

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unfold-trust-'))
})

afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))

/** Where decisions are kept between restarts. */
interface Disk {
  open(): Promise<TrustStore | undefined>
  /** Damages the decisions until `repair`. */
  damage(): Promise<void>
  repair(): Promise<void>
}

function memoryDisk(): Disk {
  const store = memoryTrustStore()
  let isDamaged = false
  const set = async (damaged: boolean): Promise<void> => {
    isDamaged = damaged
  }
  return { open: async () => (isDamaged ? undefined : store), damage: () => set(true), repair: () => set(false) }
}

function fileDisk(): Disk {
  const file = join(folder, `${files++}`, 'trust.db')
  return {
    open: () => sqliteTrustStore(file).catch(() => undefined),
    async damage() {
      await copyFile(file, `${file}.backup`)
      await writeFile(file, 'damaged'.repeat(1_000))
    },
    repair: () => copyFile(`${file}.backup`, file),
  }
}

/** A gateway's gate and catalogue, from start to stop. */
async function start(disk: Disk) {
  const store = await disk.open()
  const gate = new TrustGate({
    settingOf: () => 'pin',
    store,
    changed: (server) => source.readmit(server),
    onChange: () => undefined,
    crossServer: () => [],
    clock: systemClock,
    log,
  })
  const source: UpstreamSource = new UpstreamSource(config, {
    callOf: () => () => 'called',
    admit: (server, tools) => gate.admit(server, 'tool', tools, ({ name }) => name),
  })
  await gate.load(['notes', 'other'])
  return {
    gate,
    source,
    async stop(): Promise<void> {
      await gate.close()
      await store?.[Symbol.asyncDispose]()
    },
  }
}

const names = ['read', 'write', 'list', 'drop']
const tool = fc
  .record({ name: fc.constantFrom(...names), version: fc.nat(3) })
  .map(({ name, version }): Tool => ({ name, description: `Version ${version}`, inputSchema: { type: 'object' } }))
const tools = fc.uniqueArray(tool, { maxLength: 4, selector: ({ name }) => name })
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('list' as const), tools }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rename' as const), to: fc.constantFrom(...names), at: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('approve' as const, 'block' as const), at: fc.nat(3) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('reconnect' as const, 'restart' as const, 'corrupt' as const, 'other' as const),
    }),
  },
)

const keyOf = ({ name, description = '' }: Tool): string => `${name}: ${description}`
const bodyOf = ({ description = '' }: Tool): string => description

/** What should be served, in the simplest way. */
class Model {
  hasBaseline = false
  isReadable = true
  readonly approved = new Set<string>()
  readonly blocked = new Set<string>()

  list(listed: readonly Tool[]): void {
    if (this.hasBaseline || !this.isReadable) return
    for (const each of listed) this.approved.add(keyOf(each))
    this.hasBaseline = true
  }

  block(each: Tool): void {
    this.blocked.add(bodyOf(each))
    for (const key of this.approved) if (key.endsWith(`: ${bodyOf(each)}`)) this.approved.delete(key)
  }

  isServed(each: Tool): boolean {
    return this.isReadable && this.approved.has(keyOf(each))
  }
}

type Running = Awaited<ReturnType<typeof start>>

/** What clients see must be what the model serves: nothing unapproved, and no decision lost. */
function compare({ source, gate }: Running, model: Model, listed: readonly Tool[]): void {
  const expected = listed.filter((each) => model.isServed(each))
  expect(source.entries().map(({ tool: { name, description = '' } }) => `${name}: ${description}`)).toEqual(
    expected.map((each) => `notes__${keyOf(each)}`),
  )
  for (const { name } of listed) expect(source.isServed('notes', name)).toBe(expected.some((each) => each.name === name))
  const isBlocked = (each: Tool): boolean => model.isReadable && model.blocked.has(bodyOf(each))
  expect(gate.held('notes').map(({ item }) => keyOf(item.definition as Tool))).toEqual(
    listed.filter((each) => !model.isServed(each) && !isBlocked(each)).map(keyOf),
  )
}

test('with "pin", nothing unapproved is ever served and no decision is lost, whatever happens in which order', async () => {
  let run = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      // Files are slow: most runs test the order of events only.
      const disk = run++ % 20 === 0 ? fileDisk() : memoryDisk()
      const model = new Model()
      let listed: readonly Tool[] = []
      let running = await start(disk)
      const list = async (next: readonly Tool[]): Promise<void> => {
        listed = next
        running.source.replace('notes', listed)
        running.gate.settle('notes', ['tool'])
        await running.gate.saved()
        model.list(listed)
      }
      const restart = async (): Promise<void> => {
        await running.stop()
        running = await start(disk)
        // As cached.
        running.source.replace('notes', listed)
        await running.gate.saved()
      }
      for (const each of steps) {
        if (each.kind === 'list') await list(each.tools)
        else if (each.kind === 'rename')
          await list(
            listed.flatMap((known, at) => {
              if (at === each.at) return [{ ...known, name: each.to }]
              return known.name === each.to ? [] : [known]
            }),
          )
        else if (each.kind === 'approve' || each.kind === 'block') {
          const held = running.gate.held('notes')[each.at]
          if (held === undefined) continue
          const definition = held.item.definition as Tool
          const isAcknowledged = await running.gate[each.kind]('notes', new Set([held.digest])).then(
            () => true,
            () => false,
          )
          if (isAcknowledged !== model.isReadable) throw new Error(`the decision was ${isAcknowledged ? '' : 'not '}acknowledged`)
          if (isAcknowledged && each.kind === 'approve') model.approved.add(keyOf(definition))
          if (isAcknowledged && each.kind === 'block') model.block(definition)
          if (isAcknowledged) model.hasBaseline = true
        } else if (each.kind === 'reconnect') {
          const before = listed
          running.source.replace('notes', [])
          await list(before)
        } else if (each.kind === 'corrupt') {
          await running.stop()
          await disk.damage()
          model.isReadable = false
          running = await start(disk)
          running.source.replace('notes', listed)
          compare(running, model, listed)
          await running.stop()
          await disk.repair()
          model.isReadable = true
          running = await start(disk)
          await list(listed)
        } else if (each.kind === 'restart') await restart()
        else {
          running.source.replace('other', [])
          running.source.configure(config, (server) => (server === 'notes' ? listed : []))
        }
        compare(running, model, listed)
      }
      await running.stop()
    }),
    propertyRuns({ long: 10_000, sample: 300 }),
  )
}, 1_800_000)
