import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { defineToolbox, type ListeningServer, listen } from '@unfold-mcp/server'
import { z } from 'zod'
import { main } from '../../packages/cli/test/command.ts'
import { hashOf } from '../../packages/gateway/src/config/tokens.ts'
import { type FaultProxy, faultProxy } from '../../packages/gateway/test/faults/proxy.ts'
import { server } from '../../packages/gateway/test/upstreams.ts'
import { startRedis, type TestRedis } from '../redis.ts'
import { type Balancer, balance } from './balancer.ts'
import { type Replica, startReplica } from './replica.ts'

export const groups = ['alpha', 'beta', 'gamma'] as const

export type Group = (typeof groups)[number]

/** `bob` may not use `gamma`. */
const people = ['ann', 'bob'] as const

/** A token in the format of the gateway; only the name of its owner is different. */
export const tokenOf = (person: string): string => `unf_${person.padEnd(43, '0')}`

export const reviewerToken = tokenOf('reviewer')

/** Three replicas behind a balancer, each with its own network to a real Redis, and servers that record their calls. */
export interface World extends AsyncDisposable {
  readonly redis: TestRedis
  readonly replicas: readonly Replica[]
  /** The network between each replica and Redis. */
  readonly networks: readonly FaultProxy[]
  readonly balancer: Balancer
  /** How often each nonce was recorded. */
  readonly recorded: ReadonlyMap<string, number>
  /** Adds a tool to `alpha`, or removes it. */
  toggle(): void
  readonly isExtended: boolean
  /** What Redis has of a session. */
  stored(session: string): string
  /** Where the server that runs on one replica records its life. */
  readonly lifetimes: string
  /** Revokes a token with the command, on the machine of the first replica. Resolves to whether it succeeded. */
  revoke(name: string): Promise<boolean>
}

const run = promisify(execFile)

/** `guests`: owners of more tokens, which can be revoked. */
export async function createWorld(guests: readonly string[] = []): Promise<World> {
  const cleanups: (() => Promise<unknown>)[] = []
  const dispose = async (): Promise<void> => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  }
  const owned = <T extends AsyncDisposable>(resource: T): T => {
    cleanups.push(async () => resource[Symbol.asyncDispose]())
    return resource
  }
  try {
    const folder = await mkdtemp(join(tmpdir(), 'unfold-cluster-'))
    cleanups.push(() => rm(folder, { recursive: true, force: true }))
    let isExtended = false
    const recorded = new Map<string, number>()
    const record = (nonce: string): string => {
      recorded.set(nonce, (recorded.get(nonce) ?? 0) + 1)
      return `recorded ${nonce}`
    }
    const toolboxes = groups.map((group) =>
      defineToolbox({ name: group, version: '1.0.0' }).tool(`use_${group}`, { description: `Uses ${group}` }, () => group),
    )
    const [alpha] = toolboxes
    alpha?.tool('extra', { description: 'Extra', when: () => isExtended }, () => 'extra')
    const work = defineToolbox({ name: 'work', version: '1.0.0' }).tool(
      'record',
      { description: 'Records a nonce', inputSchema: z.object({ nonce: z.string() }) },
      ({ nonce }) => record(nonce),
    )
    work.tool(
      'guarded',
      { description: 'Records a nonce with approval', inputSchema: z.object({ nonce: z.string() }) },
      ({ nonce }) => record(nonce),
    )
    const listening = await Promise.all([...toolboxes, work].map((toolbox) => listen(toolbox, { port: 0 })))
    for (const each of listening) cleanups.push(() => each.close())
    const redis = owned(await startRedis())
    const file = join(folder, 'unfold.json')
    const lifetimes = join(folder, 'lifetimes')
    await writeFile(lifetimes, '')
    await writeFile(file, JSON.stringify(configuration(listening, lifetimes, guests), undefined, 2))
    const networks: FaultProxy[] = []
    const replicas: Replica[] = []
    const envs: NodeJS.ProcessEnv[] = []
    for (const name of ['a', 'b', 'c']) {
      const network = owned(await faultProxy(redis.port))
      networks.push(network)
      const env = {
        ...process.env,
        UNFOLD_HOME: join(folder, name),
        UNFOLD_CLUSTER_URL: `redis://127.0.0.1:${network.port}`,
        UNFOLD_CLUSTER_SECRET: 'a secret of more than thirty-two characters',
      }
      envs.push(env)
      const probe = await faultProxy(0)
      const { port } = probe
      await probe[Symbol.asyncDispose]()
      replicas.push(owned(await startReplica({ name, file, port, env, clock: join(folder, `clock-${name}`) })))
    }
    const balancer = owned(await balance(replicas.map(({ port }) => port)))
    return {
      redis,
      replicas,
      networks,
      balancer,
      recorded,
      toggle() {
        isExtended = !isExtended
        alpha?.toolListChanged()
      },
      get isExtended() {
        return isExtended
      },
      stored: (session) => redis.cli('HGETALL', `history:session:${session}`),
      lifetimes,
      revoke: (name) =>
        run(process.execPath, [main, 'token', 'revoke', name, '--config', file], { env: envs[0] }).then(
          () => true,
          () => false,
        ),
      [Symbol.asyncDispose]: dispose,
    }
  } catch (error) {
    await dispose()
    throw error
  }
}

function configuration(listening: readonly ListeningServer[], lifetimes: string, guests: readonly string[]): object {
  const servers = [...groups, 'work'].map((name, index) => [name, { url: listening[index]?.url }] as const)
  return {
    mcpServers: { ...Object.fromEntries(servers), one: { ...server('stateful.mjs', lifetimes), placement: 'one' } },
    exposure: 'groups',
    cluster: { prefix: 'history:', leaseMs: 3_000 },
    profiles: { limited: { servers: ['alpha', 'beta', 'work', 'one'] } },
    policy: { approvalTimeoutMs: 120_000, rules: [{ effect: 'ask', server: 'work', tool: ['guarded'] }] },
    tokens: [
      ...people.map((name) => ({ name, hash: hashOf(tokenOf(name)), ...(name === 'bob' && { profile: 'limited' }) })),
      ...guests.map((name) => ({ name, hash: hashOf(tokenOf(name)) })),
      { name: 'reviewer', hash: hashOf(reviewerToken), role: 'reviewer' },
    ],
  }
}
