import { setTimeout as pause } from 'node:timers/promises'
import { type Approved, approvedCall, guardedCall } from './approvals.ts'
import { type Random, randomOf } from './random.ts'
import { Lost, Refused, SessionClient, Unknown } from './session-client.ts'
import { type Group, groups, tokenOf, type World } from './world.ts'

/** What is known of a group of a session: `unknown` after a request without a reply. */
type State = 'on' | 'off' | 'unknown'

interface Session {
  readonly name: string
  readonly person: string
  readonly client: SessionClient
  readonly states: Map<Group, State>
}

export interface History {
  readonly seed: number
  /** What happened, in order. */
  readonly log: readonly string[]
  /** What must not have happened. */
  readonly violations: readonly string[]
  readonly counts: { readonly [what: string]: number }
}

export interface HistoryOptions {
  readonly seed: number
  /** Requests of each client. */
  readonly requests: number
  readonly faults: number
}

const settleMs = 180_000

/**
 * Runs clients against three replicas while replicas, Redis and the network between them fail as the seed says, then checks that
 * nothing was lost or duplicated.
 */
export async function runHistory(world: World, { seed, requests, faults }: HistoryOptions): Promise<History> {
  const random = randomOf(seed)
  const startedAt = performance.now()
  const log: string[] = []
  const counts: Record<string, number> = {}
  const note = (what: string, details = ''): void => {
    counts[what] = (counts[what] ?? 0) + 1
    log.push(`${Math.round(performance.now() - startedAt)} ${what} ${details}`.trimEnd())
  }
  const violations: string[] = []
  const sessions = ['ann', 'ann', 'bob'].map((person, index): Session => {
    const client = new SessionClient(world.balancer.url, tokenOf(person))
    return { name: `${seed}-${person}${index}`, person, client, states: new Map(groups.map((group) => [group, 'off'])) }
  })
  try {
    for (const { client } of sessions) await client.open()
    const approvals: Approved[] = []
    const running = sessions.map((session, index) =>
      runSession(session, randomOf(seed + index + 1), { world, requests, note, violations, approvals }),
    )
    await Promise.all([...running, runFaults(world, random, faults, note)])
    await heal(world)
    for (const { client } of sessions) await client.idle()
    await settle(world, sessions, violations)
    for (const { nonce, isAcknowledged, isUnknown } of approvals) {
      const owner = sessions.find(({ name }) => nonce.startsWith(`${name}-`))
      if (!isAcknowledged || isUnknown || owner === undefined) continue
      // An approval that was not used yet must still be there.
      if (!world.recorded.has(nonce)) await guardedCall(owner.client, nonce)
      if (!world.recorded.has(nonce)) violations.push(`the approval of ${nonce} was lost`)
    }
    for (const [nonce, count] of world.recorded) if (count > 1) violations.push(`${nonce} ran ${count} times`)
    for (const nonce of acknowledgedCalls(log))
      if (!world.recorded.has(nonce)) violations.push(`${nonce} was acknowledged and did not run`)
  } finally {
    for (const { client } of sessions) client.close()
    if (violations.length > 0) for (const { name, output } of world.replicas) log.push(`--- ${name}\n${output}`)
  }
  return { seed, log, violations, counts }
}

interface Recording {
  readonly world: World
  readonly approvals: Approved[]
  readonly requests: number
  readonly note: (what: string, details?: string) => void
  readonly violations: string[]
}

async function runSession(session: Session, random: Random, recording: Recording): Promise<void> {
  const { world, requests, note, violations, approvals } = recording
  const { name, person, client, states } = session
  const change = async (group: Group, to: 'on' | 'off'): Promise<void> => {
    const [tool, args] = to === 'on' ? [`activate_${group}`, {}] : ['deactivate', { group }]
    try {
      await client.call(tool, args)
      states.set(group, to)
      note(to === 'on' ? 'activated' : 'deactivated', `${name} ${group}`)
    } catch (error) {
      if (error instanceof Lost) throw error
      // A refusal without an effect, unless the reply of Redis was lost.
      const isRefused = error instanceof Refused && !error.message.includes('store that replicas share')
      if (!isRefused) states.set(group, 'unknown')
      note(isRefused ? 'refused' : 'unknown', `${name} ${tool} ${group}: ${String(error).slice(0, 120)}`)
    }
  }
  const usable = groups.filter((group) => person === 'ann' || group !== 'gamma')
  try {
    for (let count = 0; count < requests; count++) {
      const roll = random()
      if (roll < 0.35) await change(random.pick(usable), random() < 0.7 ? 'on' : 'off')
      else if (roll < 0.45) await Promise.all(usable.map((group) => change(group, 'on')))
      else if (roll < 0.49) {
        const replica = random.pick(world.replicas)
        const approved = await approvedCall(client, { nonce: `${name}-${count}`, port: replica.port, calls: 1 + random.below(2) })
        if (approved.isAcknowledged) note('approved', approved.nonce)
        approvals.push(approved)
      } else if (roll < 0.75) await record(session, `${name}-${count}`, recording)
      else {
        const tools = await client.list()
        note('listed', name)
        if (person === 'bob' && tools.some((tool) => tool.includes('gamma'))) violations.push(`${name} saw a tool of gamma`)
      }
      await pause(random.below(60))
    }
  } catch (error) {
    violations.push(`${name}: ${String(error)}`)
  }
}

async function record({ client }: Session, nonce: string, { note, violations }: Recording): Promise<void> {
  try {
    const text = await client.call('work__record', { nonce })
    // The reply may also name tools that the call activated.
    if (!text.startsWith(`recorded ${nonce}`)) violations.push(`${nonce} got the reply ${text.slice(0, 200)}`)
    note('called', nonce)
  } catch (error) {
    if (error instanceof Lost) throw error
    note(error instanceof Unknown ? 'unknown' : 'refused', `${nonce} ${String(error).slice(0, 120)}`)
  }
}

const acknowledgedCalls = (log: readonly string[]): readonly string[] =>
  log.flatMap((line) => /^\d+ called (\S+)/u.exec(line)?.[1] ?? [])

async function runFaults(world: World, random: Random, faults: number, note: Recording['note']): Promise<void> {
  for (let count = 0; count < faults; count++) {
    await pause(100 + random.below(400))
    const index = random.below(world.replicas.length)
    const replica = world.replicas[index]
    const network = world.networks[index]
    if (replica === undefined || network === undefined) continue
    const ms = 200 + random.below(2_000)
    const fault = random.pick([
      'kill',
      'suspend',
      'partition',
      'refuse',
      'latency',
      'redis freeze',
      'redis restart',
      'change',
    ] as const)
    note(`fault: ${fault}`, `${replica.name} ${ms} ms`)
    if (fault === 'kill') {
      await replica.kill()
      await pause(ms)
      await replica.start()
    } else if (fault === 'suspend') {
      replica.suspend()
      await pause(ms)
      replica.resume()
    } else if (fault === 'redis freeze') {
      world.redis.freeze()
      await pause(ms)
      world.redis.thaw()
    } else if (fault === 'redis restart') {
      await world.redis.stop()
      await pause(ms)
      await world.redis.start()
    } else if (fault === 'change') world.toggle()
    else {
      network.behave(fault === 'partition' ? 'half-open' : fault)
      if (fault === 'refuse') network.reset()
      await pause(ms)
      network.behave('fine')
      if (fault === 'partition') network.reset()
    }
  }
}

async function heal({ replicas, networks, redis }: World): Promise<void> {
  redis.thaw()
  for (const network of networks) network.behave('fine')
  for (const replica of replicas) {
    replica.resume()
    if (!replica.isRunning) await replica.start()
  }
}

/** Waits until every replica and every client agree with what was acknowledged; reports what still differs at the end. */
async function settle(world: World, sessions: readonly Session[], violations: string[]): Promise<void> {
  const until = performance.now() + settleMs
  for (;;) {
    const differences = (await Promise.all(sessions.map((session) => differencesOf(world, session)))).flat()
    if (differences.length === 0) return
    if (performance.now() > until) {
      violations.push(...differences)
      return
    }
    await pause(250)
  }
}

async function differencesOf({ replicas, isExtended }: World, session: Session): Promise<readonly string[]> {
  const { name, client, states } = session
  const identities = await Promise.all(
    replicas.map(async (replica) => [replica.name, await client.identityAt(replica.port).catch(String)] as const),
  )
  const listed = (tool: string): boolean => client.known.includes(tool)
  const outdated = identities.filter(([, identity]) => identity !== client.identity)
  const isRight = (group: Group, state: State): boolean =>
    state === 'unknown' || listed(`${group}__use_${group}`) === (state === 'on')
  return [
    ...outdated.map(([from, identity]) => `${name} knows another view than ${from} has (${identity.slice(0, 80)})`),
    ...[...states].flatMap(([group, state]) => (isRight(group, state) ? [] : [`${name}: ${group} is not ${state}`])),
    ...(listed('alpha__use_alpha') && listed('alpha__extra') !== isExtended ? [`${name} knows an outdated alpha`] : []),
  ]
}
