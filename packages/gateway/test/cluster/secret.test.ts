import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../../../client/test/processes.ts'
import { createToken } from '../../src/config/tokens.ts'
import { type Commanded, commanded } from '../faults/command.ts'
import { asking, person } from '../proxy-clients.ts'
import { server } from '../upstreams.ts'

const secret = 'a secret that all replicas of this test share'
const ada = createToken('ada')
let replicas: readonly Commanded[] = []

const effects = join(tmpdir(), `unfold-cluster-${process.pid}.txt`)

const config: object = {
  mcpServers: {
    new: asking('new', 'both'),
    old: asking('old', 'session'),
    effects: server('effects.mjs', effects, 'both'),
  },
  exposure: 'everything',
  store: { kind: 'memory' },
  tokens: [ada.record],
  policy: { rules: [{ effect: 'ask', tool: 'write' }] },
}

const started = (shared: string): Promise<Commanded> => commanded(config, { env: { UNFOLD_CLUSTER_SECRET: shared } })

beforeAll(async () => {
  replicas = await Promise.all([started(secret), started(secret), started('another secret of at least 32 characters')])
  for (const { url } of replicas)
    await until(async () => (await fetch(new URL('/readyz', url))).status === 200, `${url} is ready`)
})

afterAll(async () => {
  for (const replica of replicas) await replica[Symbol.asyncDispose]()
  await rm(effects, { force: true })
})

type Person = Awaited<ReturnType<typeof person>>

/** A 2026-07-28 client of each replica, with the same token. */
async function people(): Promise<readonly [Person, Person, Person]> {
  const [first, second, stranger] = await Promise.all(
    replicas.map(({ url }) => person(url, { era: 'stateless', token: ada.token })),
  )
  if (first === undefined || second === undefined || stranger === undefined) throw new Error('There are three replicas.')
  return [first, second, stranger]
}

interface Pending {
  readonly requestState?: string
  readonly inputRequests?: object
}

describe('AT-M01-1 (M01): replicas with the same secret, without Redis', () => {
  test('continue the requests of each other', async () => {
    const [first, second, stranger] = await people()
    const { requestState } = (await first.client.callTool({ name: 'new__ask' }, { allowInputRequired: true })) as Pending
    const answered = {
      name: 'new__ask',
      requestState,
      inputResponses: { who: { action: 'accept', content: { name: 'Eve' } } },
    }
    await expect(stranger.client.callTool(answered)).rejects.toMatchObject({ code: -32_602 })
    expect(JSON.stringify(await second.client.callTool(answered))).toContain('accept Eve (secret of new)')
    for (const each of [first, second, stranger]) await each.client.close()
  })

  test('list the same tools', async () => {
    const lists = await Promise.all((await people()).map(({ client }) => client.listTools()))
    expect(lists[1]).toEqual(lists[0])
  })

  test('say so if a request waits at another replica, where it can still be answered', async () => {
    const [first, second, stranger] = await people()
    const asked = (await first.client.callTool({ name: 'old__ask' }, { allowInputRequired: true })) as Pending
    const [key = ''] = Object.keys(asked.inputRequests ?? {})
    const answered = {
      name: 'old__ask',
      requestState: asked.requestState,
      inputResponses: { [key]: { action: 'accept', content: { name: 'Eve' } } },
    }
    await expect(second.client.callTool(answered)).rejects.toThrow(/another replica.*Send the same request again/u)
    await expect(stranger.client.callTool(answered)).rejects.toThrow(/Start again without requestState/u)
    expect(JSON.stringify(await first.client.callTool(answered))).toContain('accept Eve')
  })

  test('answer a question about a call where it was asked', async () => {
    const [first, second] = await people()
    const call = { name: 'effects__write', arguments: { text: 'x' } }
    const asked = (await first.client.callTool(call, { allowInputRequired: true })) as Pending
    const answered = {
      ...call,
      requestState: asked.requestState,
      inputResponses: { approval: { action: 'accept', content: { decision: 'Allow once' } } },
    }
    expect(JSON.stringify(await second.client.callTool(answered))).toContain('at another replica')
    expect(JSON.stringify(await first.client.callTool(answered))).toContain('wrote x')
  })
})
