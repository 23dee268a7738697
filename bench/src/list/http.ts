import assert from 'node:assert/strict'
import { type Child, startChild } from './child.ts'
import { RawClient } from './client.ts'
import { type Contestant, inRounds, type Pace, type Timing } from './rounds.ts'
import { callOf, groupsOf } from './tools.ts'
import { type Era, type Message, type Method, requestOf, resultOf } from './wire.ts'

/** V8 has compiled a server's code after about three thousand requests. */
export interface HttpPace extends Omit<Pace, 'warmUpMs'> {
  readonly warmUpMs: { readonly [M in Method]: number }
}

/** Timing of one contender for one method and size. */
export interface HttpTiming extends Timing {
  readonly size: number
  readonly era: Era
  readonly method: Method
  /** Length of the response. */
  readonly bytes: number
}

export const httpNames = {
  floor: 'floor: node:http, same bytes',
  sdkServer: 'SDK Server, constant list',
  sdkMcp: 'SDK McpServer',
  plain: 'Unfold, no groups',
  open: 'Unfold, groups, all open',
  fresh: 'Unfold, groups, fresh',
} as const

/** Measures lists and calls over HTTP at one size, with each server in a separate process. */
export async function timeOverHttp(size: number, pace: HttpPace): Promise<readonly HttpTiming[]> {
  await using servers = await startServers(size)
  const timings: HttpTiming[] = []
  for (const era of ['session', 'stateless'] as const) {
    const entrants = await entrantsOf(era, size, servers)
    for (const method of ['tools/list', 'tools/call'] as const) {
      timings.push(...(await timeMethod(entrants, { size, era, method }, { ...pace, warmUpMs: pace.warmUpMs[method] })))
    }
    for (const { client } of entrants) client[Symbol.dispose]()
  }
  return timings
}

/** A contender in one era, with its address and requests. */
interface Entrant {
  readonly name: string
  readonly client: RawClient
  readonly list: Message
  /** Absent if the measured tool is not listed. */
  readonly call: Message | undefined
}

async function timeMethod(
  entrants: readonly Entrant[],
  what: { readonly size: number; readonly era: Era; readonly method: Method },
  pace: Pace,
): Promise<readonly HttpTiming[]> {
  const bytes = new Map<string, number>()
  const contestants = entrants.flatMap(({ name, client, list, call }): Contestant[] => {
    const message = what.method === 'tools/list' ? list : call
    if (message === undefined) return []
    return [{ name, run: async () => bytes.set(name, await client.send(message)) }]
  })
  const timings = await inRounds(contestants, pace)
  return timings.map((timing) => ({ ...timing, ...what, bytes: bytes.get(timing.name) ?? 0 }))
}

interface Servers extends AsyncDisposable {
  readonly floor: Child
  readonly sdkServer: Child
  readonly sdkMcp: Child
  readonly plain: Child
  readonly open: Child
  readonly fresh: Child
}

async function startServers(size: number): Promise<Servers> {
  const starting = [
    startChild('floor'),
    startChild('sdk', ['server', size]),
    startChild('sdk', ['mcp', size]),
    startChild('unfold', ['plain', size]),
    startChild('unfold', ['grouped', size]),
    startChild('unfold', ['grouped', size]),
  ] as const
  const close = async (): Promise<void> => {
    for (const child of await Promise.allSettled(starting)) {
      if (child.status === 'fulfilled') await child.value[Symbol.asyncDispose]()
    }
  }
  try {
    const [floor, sdkServer, sdkMcp, plain, open, fresh] = await Promise.all(starting)
    return { floor, sdkServer, sdkMcp, plain, open, fresh, [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Returns the contenders of an era, after checking that their results match. */
async function entrantsOf(era: Era, size: number, servers: Servers): Promise<readonly Entrant[]> {
  const at = (path: string): Place => ({ era, size, path })
  const sdkServer = await entrantOf(httpNames.sdkServer, servers.sdkServer, at(`/${era}`))
  const sdkMcp = await entrantOf(httpNames.sdkMcp, servers.sdkMcp, at(`/${era}`))
  const plain = await entrantOf(httpNames.plain, servers.plain, at('/mcp'))
  const open = await entrantOf(httpNames.open, servers.open, at(`/mcp?groups=${groupsOf(size).join()}`))
  const fresh = await entrantOf(httpNames.fresh, servers.fresh, at('/mcp'))
  const floor = await floorOf(servers.floor, sdkServer, at('/'))
  const alike = [floor, sdkServer, sdkMcp, plain, open]
  const expected = await answersOf(sdkServer)
  for (const entrant of alike) assert.deepEqual(await answersOf(entrant), expected, `${entrant.name} answers differently`)
  // A new client sees only activators or search tools, not the measured tool.
  return [...alike, { ...fresh, call: undefined }]
}

interface Place {
  readonly era: Era
  readonly size: number
  readonly path: string
}

async function entrantOf(name: string, { port }: Child, { era, size, path }: Place): Promise<Entrant> {
  const client = new RawClient(port)
  const session = era === 'session' ? { session: await client.initialize(path) } : {}
  const list = requestOf(era, 'tools/list', { path, ...session })
  const call = requestOf(era, 'tools/call', { path, ...session, call: callOf(size) })
  return { name, client, list, call }
}

/** The floor sends the response of `other`, byte for byte. */
async function floorOf(child: Child, other: Entrant, { era, size }: Place): Promise<Entrant> {
  const { text: list } = await other.client.read(other.list)
  const { text: call } = other.call === undefined ? { text: '' } : await other.client.read(other.call)
  child.teach({ [`/${era}/list`]: list, [`/${era}/call`]: call })
  return {
    name: httpNames.floor,
    client: new RawClient(child.port),
    list: requestOf(era, 'tools/list', { path: `/${era}/list` }),
    call: requestOf(era, 'tools/call', { path: `/${era}/call`, call: callOf(size) }),
  }
}

/** Returns the listed tools of a contender without activators, and the result of a call. */
async function answersOf({ client, list, call }: Entrant): Promise<object> {
  const { tools } = resultOf((await client.read(list)).text) as { tools: { name: string }[] }
  const { content } = call === undefined ? {} : resultOf((await client.read(call)).text)
  return { tools: tools.filter(({ name }) => !/^(de)?activate/u.test(name)), content }
}
