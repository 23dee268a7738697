import { callStateless, openSession, stall } from './clients.ts'
import type { GatewayProcess } from './gateway-process.ts'

/** Numbers of completed actions, by name. */
export type Counts = Readonly<Record<string, number>>

type Random = () => number

type Action = (gateway: GatewayProcess, random: Random) => Promise<void>

const servers = ['one', 'two'] as const
const tool = (random: Random, name: string): string => `${random() < 0.5 ? servers[0] : servers[1]}__${name}`

/** What clients do, with how often they do it in 1,000 actions. */
const actions: { readonly [name: string]: { readonly weight: number; readonly run: Action } } = {
  'session with calls': { weight: 300, run: sessionWithCalls },
  'stateless call': {
    weight: 450,
    run: async ({ url }, random) => void (await callStateless(url, tool(random, 'echo'), { text: 'hello' })),
  },
  'truncated result': { weight: 150, run: truncatedResult },
  'list change': { weight: 50, run: async ({ url }, random) => void (await callStateless(url, tool(random, 'change'))) },
  'stalled reader': { weight: 40, run: stalledReader },
  crash: { weight: 1, run: async ({ url }, random) => void (await callStateless(url, tool(random, 'crash'))) },
  reload: { weight: 2, run: (gateway) => gateway.reload() },
}

export interface WorkLimits {
  /** As of `Date.now()`. */
  readonly end: number
  readonly maxActions: number
}

const clients = 6

/** Runs random actions, several at a time, and waits for those that are running at the end. */
export async function work(gateway: GatewayProcess, random: Random, { end, maxActions }: WorkLimits): Promise<Counts> {
  const counts: Record<string, number> = {}
  let started = 0
  const client = async (): Promise<void> => {
    while (Date.now() < end && started < maxActions) {
      started += 1
      const name = choose(random)
      await actions[name]?.run(gateway, random)
      counts[name] = (counts[name] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return counts
}

async function sessionWithCalls({ url }: GatewayProcess, random: Random): Promise<void> {
  const session = await openSession(url, random() < 0.5)
  try {
    await session.ask('tools/list')
    await session.call('search_tools', { query: 'filler tool' })
    await session.call(tool(random, 'filler_1'))
    await session.call(tool(random, 'echo'), { text: 'hello' })
    await session.ask('tools/list')
  } finally {
    await session.end()
  }
}

async function truncatedResult({ url }: GatewayProcess, random: Random): Promise<void> {
  const session = await openSession(url, false)
  try {
    const result = await session.call(tool(random, 'produce'), { size: 200_000 })
    const handle = /\\?"handle\\?":\s*\\?"([^"\\]+)/u.exec(result)?.[1]
    if (handle !== undefined) await session.call('read_result', { handle, offset: 100_000 })
  } finally {
    await session.end()
  }
}

async function stalledReader({ url }: GatewayProcess, random: Random): Promise<void> {
  const drop = await stall(url, 'soak://large')
  // The gateway may drop it first.
  await new Promise((resolve) => setTimeout(resolve, 200 + random() * 1_000))
  drop()
}

function choose(random: Random): string {
  const entries = Object.entries(actions)
  let left = random() * entries.reduce((sum, [, { weight }]) => sum + weight, 0)
  for (const [name, { weight }] of entries) {
    left -= weight
    if (left < 0) return name
  }
  return entries[0]?.[0] ?? ''
}
