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
import { type Requirement, type RequirementId, requirements, type TransportSet } from './requirements.ts'
import { openWire, type Wire, type WireOptions } from './wire.ts'

/** Opens servers and clients for one test; everything it opens is closed when the test ends. */
export interface Harness {
  readonly testTransport: TestTransport
  /** Serves a toolbox to any number of clients. */
  readonly serve: (served: object, options?: HandlerOptions) => Promise<TestServer>
  /** Serves a toolbox to one client. */
  readonly connect: (served: object, options?: ConnectOptions) => Promise<TestClient>
  /** Serves a toolbox to a client that exposes every byte. */
  readonly wire: (served: object, options?: WireOptions) => Promise<Wire>
}

type TransportSetOf<I extends RequirementId> = Extract<(typeof requirements)[number], { readonly id: I }>['transports']

type Body<I extends RequirementId> =
  TransportSetOf<I> extends 'none' ? () => void | Promise<void> : (harness: Harness) => Promise<void>

type FixtureBody<I extends RequirementId, S> =
  TransportSetOf<I> extends 'none' ? (fixture: S) => void | Promise<void> : (harness: Harness & S) => Promise<void>

export const transportSets: { readonly [T in TransportSet]: readonly TestTransport[] } = {
  every: testTransports,
  session: testTransports.filter(({ era }) => era === 'session'),
  stateless: testTransports.filter(({ era }) => era === 'stateless'),
  http: testTransports.filter(({ transport }) => transport === 'http'),
  'http session': testTransports.filter(({ transport, era }) => transport === 'http' && era === 'session'),
  'http stateless': testTransports.filter(({ transport, era }) => transport === 'http' && era === 'stateless'),
  none: [],
}

/** Declares the tests of a requirement: one for each transport that it applies to and each variant of the fixture. */
export function verifies<I extends RequirementId>(id: I, body: Body<I>): void
export function verifies<I extends RequirementId, S extends object>(id: I, fixture: Fixture<S>, body: FixtureBody<I, S>): void
export function verifies(
  id: RequirementId,
  ...[first, second]: [body: AnyBody] | [fixture: Fixture<object>, body: AnyBody]
): void {
  const requirement: Requirement | undefined = requirements.find((each) => each.id === id)
  if (requirement === undefined) throw new Error(`Unknown requirement ${id}.`)
  const { behaviour, transports } = requirement
  const body = isFixture(first) ? second : first
  if (body === undefined) throw new Error(`${id} has no body.`)
  const variants: readonly (string | undefined)[] = isFixture(first) ? first.variants : [undefined]
  for (const variant of variants) {
    const make = (): object => (isFixture(first) && variant !== undefined ? first.make(variant) : {})
    const variantSuffix = variant === undefined ? '' : ` · ${variant}`
    for (const testTransport of transports === 'none' ? [undefined] : transportSets[transports]) {
      const transportSuffix = testTransport === undefined ? '' : ` · ${testTransport.transport}, ${testTransport.era}`
      test.concurrent(`${id} ${behaviour}${transportSuffix}${variantSuffix}`, async () => {
        if (testTransport === undefined) return body(make() as Harness)
        return withHarness(testTransport, (harness) => body({ ...harness, ...make() }))
      })
    }
  }
}

type AnyBody = (harness: Harness) => void | Promise<void>

async function withHarness(testTransport: TestTransport, body: AnyBody): Promise<void> {
  const opened: AsyncDisposable[] = []
  const track = <T extends AsyncDisposable>(resource: T): T => {
    opened.push(resource)
    return resource
  }
  const serve = async (served: object, options?: HandlerOptions) => track(await testServer(served, testTransport, options))
  try {
    await body({
      testTransport,
      serve,
      connect: async (served, options) => (await serve(served)).connect(options),
      wire: async (served, options) => track(await openWire(served, testTransport, options)),
    })
  } finally {
    for (const resource of opened.toReversed()) await resource[Symbol.asyncDispose]()
  }
}
