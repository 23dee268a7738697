import type { HandlerOptions } from '@unfold-mcp/server'
import {
  type ConnectOptions,
  type TestClient,
  type TestServer,
  type TestTransport,
  testServer,
  testTransports,
} from '@unfold-mcp/server/testing'
import { test } from 'vitest'
import { type Fixture, isFixture } from './fixtures/fixture.ts'
import { type Reach, type Requirement, type RequirementId, requirements } from './requirements.ts'
import { openWire, type Wire, type WireOptions } from './wire.ts'

/** Where one proof takes place: everything it opens is closed when it ends. */
export interface Place {
  readonly way: TestTransport
  /** Serves a toolbox in this way, for any number of clients. */
  readonly serve: (served: object, options?: HandlerOptions) => Promise<TestServer>
  /** Serves a toolbox in this way to one client. */
  readonly connect: (served: object, options?: ConnectOptions) => Promise<TestClient>
  /** Serves a toolbox in this way to a client that shows every byte. */
  readonly wire: (served: object, options?: WireOptions) => Promise<Wire>
}

type ReachOf<I extends RequirementId> = Extract<(typeof requirements)[number], { readonly id: I }>['ways']

type Body<I extends RequirementId> = ReachOf<I> extends 'none' ? () => void | Promise<void> : (place: Place) => Promise<void>

type FixtureBody<I extends RequirementId, S> =
  ReachOf<I> extends 'none' ? (made: S) => void | Promise<void> : (place: Place & S) => Promise<void>

/** The ways that each reach stands for. */
export const waysOf: { readonly [R in Reach]: readonly TestTransport[] } = {
  every: testTransports,
  session: testTransports.filter(({ era }) => era === 'session'),
  stateless: testTransports.filter(({ era }) => era === 'stateless'),
  http: testTransports.filter(({ transport }) => transport === 'http'),
  'http session': testTransports.filter(({ transport, era }) => transport === 'http' && era === 'session'),
  'http stateless': testTransports.filter(({ transport, era }) => transport === 'http' && era === 'stateless'),
  none: [],
}

/** Proves a requirement: once on each way that it applies to, and with a fixture once through each of its doors. */
export function verifies<I extends RequirementId>(id: I, body: Body<I>): void
export function verifies<I extends RequirementId, S extends object>(id: I, fixture: Fixture<S>, body: FixtureBody<I, S>): void
export function verifies(
  id: RequirementId,
  ...[first, second]: [body: AnyBody] | [fixture: Fixture<object>, body: AnyBody]
): void {
  const { behaviour, ways: reach }: Requirement = requirements.find((requirement) => requirement.id === id) ?? unknown(id)
  const body = isFixture(first) ? second : first
  if (body === undefined) throw new Error(`${id} has no body.`)
  const doors: readonly (string | undefined)[] = isFixture(first) ? first.doors : [undefined]
  for (const door of doors) {
    const made = (): object => (isFixture(first) && door !== undefined ? first.make(door) : {})
    const through = door === undefined ? '' : ` · ${door}`
    for (const way of reach === 'none' ? [undefined] : waysOf[reach]) {
      const where = way === undefined ? '' : ` · ${way.transport}, ${way.era}`
      test.concurrent(`${id} ${behaviour}${where}${through}`, async () => {
        if (way === undefined) return body(made() as Place)
        return at(way, (place) => body({ ...place, ...made() }))
      })
    }
  }
}

type AnyBody = (place: Place) => void | Promise<void>

async function at(way: TestTransport, body: (place: Place) => void | Promise<void>): Promise<void> {
  const opened: AsyncDisposable[] = []
  const kept = <T extends AsyncDisposable>(resource: T): T => {
    opened.push(resource)
    return resource
  }
  const serve = async (served: object, options?: HandlerOptions) => kept(await testServer(served, way, options))
  try {
    await body({
      way,
      serve,
      connect: async (served, options) => (await serve(served)).connect(options),
      wire: async (served, options) => kept(await openWire(served, way, options)),
    })
  } finally {
    for (const resource of opened.toReversed()) await resource[Symbol.asyncDispose]()
  }
}

function unknown(id: string): never {
  throw new Error(`There is no requirement ${id}.`)
}
