import { setTimeout as pause } from 'node:timers/promises'
import { Refused, Unauthorized, Unknown } from './exchange.ts'
import type { Random } from './random.ts'
import type { Replica } from './replica.ts'
import { StatelessClient } from './stateless-client.ts'
import { tokenOf, type World } from './world.ts'

/** A client whose token is revoked while it makes calls. */
export interface Guest {
  /** Makes calls, and revokes the token in the middle of them. */
  run(): Promise<void>
  /** Waits until every replica rejects the token; none may accept it again. */
  check(): Promise<void>
  close(): void
}

interface GuestOptions {
  readonly name: string
  readonly random: Random
  readonly note: (what: string, details?: string) => void
  readonly violations: string[]
}

const requests = 40
const waitMs = 180_000

/** Name of the guest of a history; the configuration has a token for it. */
export const guestOf = (seed: number): string => `guest${seed}`

/** Creates the guest of a history. */
export function createGuest(world: World, { name, random, note, violations }: GuestOptions): Guest {
  const client = new StatelessClient('', tokenOf(name))
  const isAccepted = async ({ port }: Replica): Promise<boolean | undefined> => {
    try {
      await client.listAt(`http://127.0.0.1:${port}/mcp`)
      return true
    } catch (error) {
      // After twenty attempts, invalid tokens are throttled.
      if (error instanceof Unauthorized || (error instanceof Refused && error.message.includes('token'))) return false
      if (error instanceof Unknown || error instanceof Refused) return undefined
      throw error
    }
  }
  const untilAllReject = async (): Promise<boolean> => {
    const until = performance.now() + waitMs
    for (;;) {
      const states = await Promise.all(world.replicas.map(isAccepted))
      if (states.every((state) => state === false)) return true
      if (performance.now() > until) return false
      await pause(100)
    }
  }
  let isRevoked = false
  /** Replicas that reject the token, with the start that they have to reject it from. */
  const rejecting = new Set<string>()
  const startsAtRevocation = new Map<string, number>()
  const ask = async (replica: Replica): Promise<void> => {
    const { name: at, starts } = replica
    const wasRevoked = isRevoked
    const accepted = await isAccepted(replica)
    if (accepted === false) rejecting.add(at)
    if (accepted !== true || !wasRevoked) return
    if (rejecting.has(at)) violations.push(`${at} accepted the revoked token of ${name} again`)
    if (starts > (startsAtRevocation.get(at) ?? starts))
      violations.push(`${at} started after the revocation and accepted ${name}`)
  }
  return {
    async run() {
      const revokeAt = 5 + random.below(15)
      let revoking: Promise<void> = Promise.resolve()
      for (let count = 0; count < requests; count++) {
        if (count === revokeAt) revoking = revoke()
        await ask(random.pick(world.replicas))
        await pause(random.below(150))
      }
      await revoking
    },
    async check() {
      if (!isRevoked) await revoke()
      if (!(await untilAllReject())) violations.push(`not all replicas reject the revoked token of ${name}`)
      for (const replica of world.replicas) await ask(replica)
    },
    close: () => client.close(),
  }

  async function revoke(): Promise<void> {
    const [first] = world.replicas
    const startsBefore = first?.starts
    const isAcknowledged = await world.revoke(name)
    note(isAcknowledged ? 'revoked' : 'unknown', name)
    if (!isAcknowledged) return
    for (const replica of world.replicas) startsAtRevocation.set(replica.name, replica.starts)
    isRevoked = true
    // The command ran on its machine: it rejects the token when the command returns.
    if (first === undefined || !first.isRunning || first.isSuspended || first.starts !== startsBefore) return
    if ((await isAccepted(first)) === true && first.starts === startsBefore)
      violations.push(`${first.name} accepted ${name} after "unfold token revoke" had returned`)
  }
}
