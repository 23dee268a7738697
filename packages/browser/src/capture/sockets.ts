import type { Recording } from '../recording/recording.ts'
import type { SocketEvent, SocketStatus } from '../records/records.ts'
import type { EventOf } from './protocol.ts'
import { RateLimiter } from './rate-limiter.ts'
import { cut, shortened } from './text.ts'
import { addressOf } from './url.ts'

/** Maximum stored size of a WebSocket message. */
export const frameLimit = 4 * 1024
const maxSockets = 500
/** Further messages within a second are counted but not recorded. */
export const frameRate = { count: 1_000, bytes: 16 * 1024 * 1024 }
const binary = 2

type Frame = EventOf<'Network.webSocketFrameReceived'>

interface Open {
  status: SocketStatus
  readonly session: string
}

interface Context {
  readonly tab: string
  readonly now: () => number
  /** Called when a message is not recorded. */
  readonly dropped: () => void
}

/** WebSockets of a tab: status and events. */
export class Sockets {
  readonly #recording: Recording
  readonly #context: Context
  readonly #open = new Map<string, Open>()
  readonly #gate: RateLimiter
  #count = 0

  constructor(recording: Recording, around: Context) {
    this.#recording = recording
    this.#context = around
    this.#gate = new RateLimiter(frameRate, around.now)
  }

  created({ requestId, url }: EventOf<'Network.webSocketCreated'>, session: string): void {
    const { tab } = this.#context
    this.#count += 1
    const none = { messages: 0, bytes: 0 }
    const status: SocketStatus = {
      id: `${tab}-socket-${this.#count}`,
      tab,
      url: addressOf(url),
      state: 'connecting',
      sent: none,
      received: none,
    }
    this.#open.set(requestId, { status, session })
    this.#recording.connection(status)
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= maxSockets) break
      this.#close(oldest, 'not followed any more, because there are too many')
    }
  }

  opened({ requestId, response }: EventOf<'Network.webSocketHandshakeResponseReceived'>): void {
    const open = this.#open.get(requestId)
    if (open === undefined || response.status !== 101) return
    const at = this.#context.now()
    this.#set(open, { state: 'open', openedAt: at })
    this.#add(open, { event: 'opened', bytes: 0 })
  }

  sent(frame: Frame): void {
    this.#frame(frame, 'sent')
  }

  received(frame: Frame): void {
    this.#frame(frame, 'received')
  }

  failed({ requestId, errorMessage }: EventOf<'Network.webSocketFrameError'>): void {
    const open = this.#open.get(requestId)
    if (open === undefined) return
    const why = shortened(errorMessage, frameLimit)
    this.#set(open, { closedBecause: why })
    this.#add(open, { event: 'failed', text: why, bytes: 0 })
  }

  closed({ requestId }: EventOf<'Network.webSocketClosed'>): void {
    this.#close(requestId)
  }

  /** Closes the connections of a frame or worker that is gone. */
  left(session: string | undefined, why: string): void {
    for (const [id, open] of this.#open) if (session === undefined || open.session === session) this.#close(id, why)
  }

  /** Returns the number of messages not recorded since the last call. */
  takeDropped(): number {
    return this.#gate.takeShut()
  }

  #frame({ requestId, response: { opcode, payloadData } }: Frame, event: 'sent' | 'received'): void {
    const open = this.#open.get(requestId)
    if (open === undefined) return
    const isBinary = opcode === binary
    const bytes = Buffer.byteLength(payloadData, isBinary ? 'base64' : 'utf8')
    const { messages, bytes: before } = open.status[event]
    this.#set(open, { [event]: { messages: messages + 1, bytes: before + bytes }, lastMessageAt: this.#context.now() })
    if (!this.#gate.passes(payloadData.length)) {
      this.#context.dropped()
      return
    }
    // Four base64 characters are three bytes.
    const { text, isCut } = cut(payloadData, isBinary ? Math.floor(frameLimit / 3) * 4 : frameLimit)
    this.#add(open, { event, text, ...(isBinary && { encoding: 'base64' }), bytes, ...(isCut && { cut: true }) })
  }

  #close(id: string, because?: string): void {
    const open = this.#open.get(id)
    if (open === undefined) return
    this.#open.delete(id)
    const why = open.status.closedBecause ?? because
    this.#set(open, { state: 'closed', closedAt: this.#context.now(), ...(why !== undefined && { closedBecause: why }) })
    this.#add(open, { event: 'closed', ...(why !== undefined && { text: why }), bytes: 0 })
  }

  #set(open: Open, change: Partial<SocketStatus>): void {
    open.status = { ...open.status, ...change }
    this.#recording.connection(open.status)
  }

  #add({ status: { id, url } }: Open, event: Pick<SocketEvent, 'event' | 'text' | 'encoding' | 'bytes' | 'cut'>): void {
    const { tab, now } = this.#context
    this.#recording.add('sockets', { at: now(), tab, socket: id, url, ...event })
  }
}
