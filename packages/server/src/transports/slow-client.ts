import type { IncomingMessage } from 'node:http'

/** Limits for clients that do not read what they requested, or do not finish their requests. */
export interface SlowClientOptions {
  /** Disconnects a client that accepts no byte of its reply for this long. Default: 30,000. */
  readonly stallTimeoutMs?: number
  /**
   * Maximum size of the replies that clients have not accepted yet, of all connections together. Above it, the slowest clients are
   * disconnected. Default: 268,435,456 (256 MiB).
   */
  readonly maxUnsentBytes?: number
  /** Called for each client that was disconnected because it is too slow. */
  readonly onSlowClient?: (client: SlowClient) => void
}

/** A client that was disconnected because it is too slow. */
export interface SlowClient {
  /**
   * `stalled`: it accepted nothing for the time of `stallTimeoutMs`. `unsent`: it was the slowest when replies exceeded
   * `maxUnsentBytes`. `upload`: it was the first to start one of the unfinished request bodies, which exceeded their limit.
   */
  readonly reason: 'stalled' | 'unsent' | 'upload'
  /** Bytes that were released. */
  readonly bytes: number
  /** Remote address and port. */
  readonly address: string
}

export function addressOf({ socket: { remoteAddress = 'unknown', remotePort = 0 } }: IncomingMessage): string {
  return `${remoteAddress}:${remotePort}`
}

const causes = {
  stalled: 'it accepted no part of a reply for too long',
  unsent: 'it was the slowest client when unsent replies exceeded their limit',
  upload: 'its request was the oldest one when unfinished requests exceeded their limit',
} as const

/** Returns a line for the log. */
export const slowClientMessage = ({ reason, bytes, address }: SlowClient): string =>
  `disconnected ${address}: ${causes[reason]} (${bytes} bytes released)`
