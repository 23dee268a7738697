import { setTimeout as pause } from 'node:timers/promises'
import { type AnsweredCall, type Approved, answeredCall, approvedCall, guardedCall, repeatAnswer } from './approvals.ts'
import { Lost, Refused, Unknown } from './exchange.ts'
import { createGuest, guestOf } from './guest.ts'
import { lifetimesIn } from './lifetimes.ts'
import { type Random, randomOf } from './random.ts'
import { SessionClient } from './session-client.ts'
import { StatelessClient } from './stateless-client.ts'
import { type Group, groups, tokenOf, type World } from './world.ts'

/** What is known of a group of a session: `unknown` after a request without a reply. */
type State = 'on' | 'off' | 'unknown'

interface Session {
  readonly name: string
  readonly person: string
  readonly client: SessionClient
  readonly states: Map<Group, State>
}

/** A 2026-07-28 client. */
interface Caller {
  readonly name: string
  readonly person: string
  readonly client: StatelessClient
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
const stallMs = 6_000
const maxClockOffsetMs = 30_000

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
  const callers = ['ann', 'bob'].map((person, index): Caller => {
    const client = new StatelessClient(world.balancer.url, tokenOf(person))
    return { name: `${seed}-${person}${sessions.length + index}`, person, client }
  })
  const agents = [...sessions, ...callers]
  const noteStored = (): void => {
    for (const { name, client } of sessions)
      log.push(`--- ${name}, ${client.notifications} notifications, identity ${client.identity}\n${world.stored(client.session)}`)
  }
  const guest = createGuest(world, { name: guestOf(seed), random: randomOf(seed + 50), note, violations })
  try {
    for (const { client } of sessions) await client.open()
    for (const { client } of callers) void client.listen()
    const approvals: Approved[] = []
    const answered: AnsweredCall[] = []
    const recording: Recording = { world, requests, note, violations, approvals, answered }
    await Promise.all([
      ...sessions.map((session, index) => runSession(session, randomOf(seed + index + 1), recording)),
      ...callers.map((caller, index) => runCaller(caller, randomOf(seed + index + 11), recording)),
      stall(random.pick(agents), recording),
      guest.run(),
      runFaults(world, random, faults, note),
    ])
    await heal(world)
    for (const { client } of sessions) await client.idle()
    await settle(world, agents, violations)
    // The next change may hide the cause.
    if (violations.length > 0) noteStored()
    await announceChange(world, agents, violations)
    await guest.check()
    for (const each of answered) for (const { client } of callers) await repeatAnswer(client, each)
    for (const { nonce, isAcknowledged, isUnknown } of approvals) {
      const owner = sessions.find(({ name }) => nonce.startsWith(`${name}-`))
      if (!isAcknowledged || isUnknown || owner === undefined) continue
      // An approval that was not used yet must still be there.
      if (!world.recorded.has(nonce)) await guardedCall(owner.client, nonce)
      if (!world.recorded.has(nonce)) violations.push(`the approval of ${nonce} was lost`)
    }
    for (const [nonce, count] of world.recorded) if (count > 1) violations.push(`${nonce} ran ${count} times`)
    const { overlaps, calls } = lifetimesIn(world.lifetimes)
    for (const overlap of overlaps) violations.push(`the server with one holder ran twice: ${overlap}`)
    for (const [nonce, count] of calls) if (count > 1) violations.push(`${nonce} ran ${count} times`)
    const hasRun = (nonce: string): boolean => world.recorded.has(nonce) || calls.has(nonce)
    for (const nonce of noncesOf(log, 'called')) if (!hasRun(nonce)) violations.push(`${nonce} was acknowledged and did not run`)
    for (const nonce of noncesOf(log, 'refused')) if (hasRun(nonce)) violations.push(`${nonce} was refused and ran`)
  } finally {
    for (const { client } of agents) client.close()
    guest.close()
    for (const replica of world.replicas) replica.setClock(0)
    if (violations.length > 0) {
      noteStored()
      for (const { name, output } of world.replicas) log.push(`--- ${name}\n${output}`)
    }
  }
  return { seed, log, violations, counts }
}

interface Recording {
  readonly world: World
  readonly approvals: Approved[]
  readonly answered: AnsweredCall[]
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
      } else if (roll < 0.7) await record(session, `${name}-${count}`, recording)
      else if (roll < 0.8) await record(session, `${name}-${count}`, recording, 'one__count')
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

async function runCaller({ name, person, client }: Caller, random: Random, recording: Recording): Promise<void> {
  const { requests, note, violations, answered } = recording
  try {
    for (let count = 0; count < requests; count++) {
      const roll = random()
      const nonce = `${name}-${count}`
      if (roll < 0.45) await record({ client }, nonce, recording)
      else if (roll < 0.6) await record({ client }, nonce, recording, 'one__count')
      else if (roll < 0.7) {
        const approved = await answeredCall(client, nonce)
        if (approved !== undefined) {
          note('answered', nonce)
          answered.push(approved)
        }
      } else {
        const { tools } = await client.list()
        note('listed', name)
        if (person === 'bob' && tools.some((tool) => tool.includes('gamma'))) violations.push(`${name} saw a tool of gamma`)
      }
      await pause(random.below(120))
    }
  } catch (error) {
    violations.push(`${name}: ${String(error)}`)
  }
}

/** Makes a call that the server with one holder never answers, so that it runs during takeovers. */
async function stall(
  { name, client }: Pick<Session | Caller, 'name' | 'client'>,
  { note, violations }: Recording,
): Promise<void> {
  const nonce = `${name}-stalled`
  const args = { nonce }
  try {
    await (client instanceof SessionClient
      ? client.call('one__stall', args, stallMs)
      : client.call('one__stall', args, { timeoutMs: stallMs }))
    violations.push(`${nonce} got a result`)
  } catch (error) {
    note(error instanceof Refused ? 'refused' : 'unknown', `${nonce} ${String(error).slice(0, 200)}`)
  }
}

async function record(
  { client }: Pick<Session | Caller, 'client'>,
  nonce: string,
  { note, violations }: Recording,
  tool = 'work__record',
): Promise<void> {
  try {
    const text = await client.call(tool, { nonce })
    // The reply may also name tools that the call activated.
    if (tool === 'work__record' && !text.startsWith(`recorded ${nonce}`))
      violations.push(`${nonce} got the reply ${text.slice(0, 200)}`)
    note('called', nonce)
  } catch (error) {
    if (error instanceof Lost) throw error
    note(error instanceof Unknown ? 'unknown' : 'refused', `${nonce} ${String(error).slice(0, 120)}`)
  }
}

/** Nonces of calls with this outcome. */
const noncesOf = (log: readonly string[], outcome: 'called' | 'refused'): readonly string[] =>
  log.flatMap((line) => new RegExp(`^\\d+ ${outcome} (\\d+-\\w+-\\w+)`, 'u').exec(line)?.[1] ?? [])

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
      'clock',
      'change',
    ] as const)
    note(`fault: ${fault}`, `${replica.name} ${ms} ms`)
    // The clock stays wrong until the end.
    if (fault === 'clock') replica.setClock(random.below(2 * maxClockOffsetMs) - maxClockOffsetMs)
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
    else if (fault !== 'clock') {
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
async function settle(world: World, agents: readonly (Session | Caller)[], violations: string[]): Promise<void> {
  const differences = async (): Promise<readonly string[]> =>
    (
      await Promise.all(
        agents.map((agent) => ('states' in agent ? differencesOf(world, agent) : differencesOfLists(world, agent))),
      )
    ).flat()
  await untilNone(differences, violations)
}

/** Changes the tools once more: every client is notified, wherever its stream is. */
async function announceChange(world: World, agents: readonly (Session | Caller)[], violations: string[]): Promise<void> {
  const callers = agents.filter((agent): agent is Caller => !('states' in agent))
  await untilNone(
    async () => callers.filter(({ client }) => !client.isListening).map(({ name }) => `${name} has no stream`),
    violations,
  )
  const before = new Map(callers.map(({ name, client }) => [name, client.notifications]))
  world.toggle()
  await untilNone(
    async () =>
      callers
        .filter(({ name, client }) => client.notifications === before.get(name))
        .map(({ name }) => `${name} was not notified of a change`),
    violations,
  )
  await settle(world, agents, violations)
}

/** Repeats a check until it finds nothing; what it finds at the end is a violation. */
async function untilNone(check: () => Promise<readonly string[]>, violations: string[]): Promise<void> {
  const until = performance.now() + settleMs
  for (;;) {
    const differences = await check()
    if (differences.length === 0) return
    if (performance.now() > until) {
      violations.push(...differences)
      return
    }
    await pause(250)
  }
}

async function differencesOfLists({ replicas, isExtended }: World, { name, client }: Caller): Promise<readonly string[]> {
  const lists = await Promise.all(
    replicas.map(({ port }) => client.listAt(`http://127.0.0.1:${port}/mcp`).catch((error: unknown) => String(error))),
  )
  const [first] = lists
  return lists.flatMap((list, index) => {
    if (typeof list === 'string') return [`${name} cannot list: ${list}`]
    if (typeof first === 'string') return []
    return [
      ...(list.identity === first?.identity ? [] : [`${name} gets different lists from ${replicas[index]?.name}`]),
      ...(list.tools.includes('alpha__extra') === isExtended
        ? []
        : [`${name} gets an outdated alpha from ${replicas[index]?.name}`]),
    ]
  })
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
