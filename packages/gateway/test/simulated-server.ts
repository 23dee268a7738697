import { ClientError, type ConnectionEvent } from '@unfold-mcp/client'
import type { Tool } from '@unfold-mcp/core'
import fc from 'fast-check'
import type { UpstreamConnection } from '../src/upstreams/connection.ts'
import type { SimulatedClock } from './simulated-clock.ts'

interface Delays {
  readonly there: number
  readonly back: number
  readonly fails: boolean
}

const away = (): ClientError => new ClientError('unreachable', 'It is not there.', { target: 'simulated' })
/** The contents of a server at one of its versions. */
export const toolsOf = (version: number): readonly Tool[] =>
  Array.from({ length: version % 4 }, (_, each) => ({
    name: `tool_${each}`,
    description: `As of ${version}`,
    inputSchema: { type: 'object' },
  }))

/** A server that changes, dies and returns on command. */
export class SimulatedServer {
  readonly #clock: SimulatedClock
  readonly #delays: readonly Delays[]
  readonly #connections = new Set<{ die: () => void; tell: (sign: ConnectionEvent) => void }>()
  #at = 0
  isUp = true
  version = 1
  lists = 0
  failures = 0
  opened = 0
  notices = 0
  mostAtOnce = 0

  constructor(clock: SimulatedClock, delays: readonly Delays[]) {
    this.#clock = clock
    this.#delays = delays
  }

  change(): void {
    this.version++
    if (this.isUp) this.notices++
    for (const { tell } of this.#connections) tell('changed')
  }

  die(): void {
    this.isUp = false
    for (const { die } of [...this.#connections]) die()
    this.#connections.clear()
  }

  async open(): Promise<UpstreamConnection> {
    await this.#pause(this.#next().there)
    if (!this.isUp) throw away()
    this.opened++
    const watchers = new Set<(sign: ConnectionEvent) => void>()
    const over = new Set<() => void>()
    let [isDead, atOnce] = [false, 0]
    const own = {
      die: () => {
        isDead = true
        for (const each of over) each()
      },
      tell: (sign: ConnectionEvent) => {
        for (const each of watchers) each(sign)
      },
    }
    this.#connections.add(own)
    return {
      era: 'session',
      protocolVersion: 'simulated',
      server: { name: 'simulated', version: '1' },
      instructions: undefined,
      capabilities: { tools: { listChanged: true } },
      pid: undefined,
      refresh: async () => {
        this.lists++
        this.mostAtOnce = Math.max(this.mostAtOnce, ++atOnce)
        const { there, back, fails } = this.#next()
        await this.#pause(there)
        const { version } = this
        await this.#pause(back)
        atOnce--
        if (!isDead && !fails) return toolsOf(version)
        this.failures++
        throw away()
      },
      watch: async (saw) => {
        watchers.add(saw)
        return () => watchers.delete(saw)
      },
      ping: async () => {
        if (isDead) throw away()
      },
      call: () => Promise.reject(away()),
      close: async () => {
        this.#connections.delete(own)
      },
      onClose: (listener) => {
        over.add(listener)
      },
    }
  }

  #next(): Delays {
    return this.#delays[this.#at++] ?? { there: 1, back: 1, fails: false }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.after(ms, resolve)
    })
  }
}

/** The delays of consecutive requests to a server, and which of them fail. */
export const delays = fc.array(
  fc.record({
    there: fc.integer({ min: 0, max: 80 }),
    back: fc.integer({ min: 0, max: 80 }),
    fails: fc.integer({ min: 0, max: 5 }).map((each) => each === 0),
  }),
  { maxLength: 16 },
)
