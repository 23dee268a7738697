import type { Exchange } from '@unfold-mcp/server'
import type { Log } from '../../base/log.ts'
import type { UpstreamState } from '../../upstreams/events.ts'
import type { Upstreams } from '../../upstreams/upstreams.ts'
import { Leases } from '../lease.ts'
import type { Redis } from '../redis.ts'
import { ForwardHandler } from './forward-handler.ts'
import { forwardPath } from './messages.ts'
import { Placement } from './placement.ts'
import { Signatures } from './signature.ts'

export interface ReplicaPlacementOptions {
  readonly redis: Redis
  /** Id of this replica. */
  readonly replica: string
  readonly key: Uint8Array
  readonly leaseMs: number
  readonly log: Log
}

const heartbeatShare = 1 / 5

/** What one replica needs to share servers with others: leases, the connections to other replicas, and the handler for theirs. */
export class ReplicaPlacement {
  readonly path = forwardPath
  readonly placement: Placement
  readonly #options: ReplicaPlacementOptions
  readonly #signatures: Signatures
  #handler: ForwardHandler | undefined
  #listening: (address: string) => void = () => undefined

  constructor(options: ReplicaPlacementOptions) {
    const { redis, replica, key, leaseMs, log } = options
    this.#options = options
    const address = new Promise<string>((resolve) => {
      this.#listening = resolve
    })
    const leases = new Leases({ redis, replica, leaseMs })
    this.#signatures = new Signatures({ key, now: () => leases.now() })
    this.placement = new Placement({ leases, signatures: this.#signatures, replica, address, log })
  }

  /** Accepts requests from other replicas for these servers. */
  serve(
    upstreams: Upstreams,
    { isServed, maxBodyBytes }: { isServed: (server: string, tool: string) => boolean; maxBodyBytes: () => number },
  ): void {
    this.#handler = new ForwardHandler({
      ...{ upstreams, isServed, maxBodyBytes },
      held: (server) => this.placement.held(server),
      signatures: this.#signatures,
      heartbeatMs: this.#options.leaseMs * heartbeatShare,
    })
    // Without Redis nothing starts; when it returns, nobody waits for the next attempt.
    this.#options.redis.onStatus((problem) => {
      if (problem !== undefined) return
      for (const upstream of upstreams.names.map((name) => upstreams.get(name)))
        if (upstream?.config.placement === 'one' && isWaiting(upstream.state)) upstream.restart()
    })
  }

  handle(request: Request, exchange: Exchange): Promise<Response> {
    return this.#handler?.handle(request, exchange) ?? Promise.resolve(Response.json({}, { status: 503 }))
  }

  /** Sets where other replicas reach this one. From then on, servers can start here. */
  listening(address: string): void {
    this.#listening(address)
  }

  /** Lets the other replicas take over after running requests have finished. */
  drain(): void {
    this.#handler?.drain()
  }
}

const isWaiting = (state: UpstreamState): boolean => state === 'failed' || state === 'reconnecting'
