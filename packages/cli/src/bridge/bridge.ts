import type { Duplex, Readable, Writable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { ByteLines } from '@unfold-mcp/core'
import { endingNotice } from '@unfold-mcp/gateway/bridge'
import { exit } from '../base/exit.ts'
import { timeLimit } from '../base/time-limit.ts'
import { BridgeRefused } from './connection.ts'
import { isListen, isRepeatable, isRequest, isResponse, keyOf, lineOf, type Message, messagesOn } from './message.ts'
import { Session } from './session.ts'
import { Subscriptions } from './subscriptions.ts'

export interface BridgeOptions {
  readonly stdin: Readable
  readonly stdout: Writable
  /** Stops the bridge. */
  readonly signal: AbortSignal
  readonly open: (signal: AbortSignal) => Promise<Duplex>
  readonly note: (text: string) => void
  /** How long to wait for the gateway to come back. */
  readonly reconnectTimeoutMs?: number
  readonly retryMs?: number
}

const defaults = { reconnectTimeoutMs: 20_000, retryMs: 200 }
// After end of input, the client may still wait for responses.
const lastAnswersMs = 5_000

interface Held {
  readonly line: Buffer
  readonly messages: readonly Message[]
  readonly isBatch: boolean
}

/**
 * Relays between a stdio client and a running gateway. When the gateway restarts, the session is replayed to the new one, and the
 * client only sees list change notifications.
 */
export class Bridge {
  readonly #options: Required<BridgeOptions>
  #gateway: Duplex | undefined
  /** `ending`: the gateway completes running requests, but accepts no new ones. */
  #state: 'open' | 'ending' | 'away' = 'away'
  #generation = 0
  /** Client requests without a response. */
  readonly #pending = new Map<string, Message>()
  /** Lines received while no gateway was connected. */
  #held: Held[] = []
  /** Gateway requests without a response: the gateway's ID by the ID sent to the client. */
  readonly #asked = new Map<string, { readonly id: unknown; readonly known: unknown }>()
  readonly #own = new Map<string, (answer: Message | undefined) => void>()
  #ownNumber = 0
  readonly #session = new Session()
  readonly #subscriptions = new Subscriptions()
  #isLast = false
  #finish: (code: number) => void = () => undefined
  readonly #finished = new Promise<number>((resolve) => {
    this.#finish = resolve
  })

  constructor(options: BridgeOptions) {
    this.#options = { ...defaults, ...options }
  }

  /** Relays until the client disconnects or no gateway comes back. Returns the exit code. */
  async run(gateway: Duplex): Promise<number> {
    const { stdin, stdout, signal } = this.#options
    const over = (): void => this.#finish(exit.ok)
    signal.addEventListener('abort', over, { once: true })
    stdout.once('error', over)
    this.#attach(gateway)
    this.#state = 'open'
    const lines = new ByteLines<Buffer>({ allocate: (size) => Buffer.allocUnsafe(size), keepsEnds: true })
    stdin.on('data', (chunk: Buffer) => {
      for (const line of lines.add(chunk)) if (line !== undefined) this.#said({ line, ...messagesOn(line) })
    })
    const last = (): void => void this.#last()
    stdin.once('end', last).once('close', last)
    if (signal.aborted) over()
    const code = await this.#finished
    this.#state = 'away'
    this.#gateway?.destroy()
    // Otherwise stdin would keep the process alive.
    stdin.pause()
    return code
  }

  async #last(): Promise<void> {
    if (this.#isLast) return
    this.#isLast = true
    if (this.#isQuiet()) this.#finish(exit.ok)
    await pause(lastAnswersMs, undefined, { ref: false })
    this.#finish(exit.ok)
  }

  #isQuiet(): boolean {
    return this.#held.length === 0 && [...this.#pending.values()].every(isListen)
  }

  #said(held: Held): void {
    const isAsking = held.messages.some(isRequest)
    if (this.#state === 'open' || (this.#state === 'ending' && !isAsking)) {
      this.#pass(held)
      return
    }
    const cancelled = held.messages.filter(isCancelled).map(({ params }) => keyOf(params?.requestId))
    // Cancels requests that were not sent yet.
    this.#held = this.#held.filter(({ messages }) => !messages.some(({ id }) => cancelled.includes(keyOf(id))))
    this.#held.push(held)
  }

  #pass({ line, messages, isBatch }: Held): void {
    const passed = messages.flatMap((message) => this.#toGateway(message))
    const isSame = passed.length === messages.length && passed.every((message, at) => message === messages[at])
    const { stdin } = this.#options
    const text = isSame ? line : lineOf(isBatch ? passed : (passed[0] ?? {}))
    if (passed.length === 0 && messages.length > 0) return
    if (this.#gateway?.write(text) !== false) return
    stdin.pause()
    this.#gateway.once('drain', () => stdin.resume()).once('close', () => stdin.resume())
  }

  /** Drops responses to requests of an earlier gateway. */
  #toGateway(message: Message): readonly Message[] {
    if (isResponse(message)) {
      const asked = this.#asked.get(keyOf(message.id))
      this.#asked.delete(keyOf(message.id))
      if (asked === undefined) return []
      return keyOf(asked.id) === keyOf(message.id) ? [message] : [{ ...message, id: asked.id }]
    }
    if (isRequest(message)) this.#pending.set(keyOf(message.id), message)
    if (isCancelled(message)) {
      this.#pending.delete(keyOf(message.params?.requestId))
      this.#subscriptions.ended(message.params?.requestId)
    }
    this.#session.sent(message)
    return [message]
  }

  #attach(gateway: Duplex): void {
    this.#gateway = gateway
    const lines = new ByteLines<Buffer>({ allocate: (size) => Buffer.allocUnsafe(size), keepsEnds: true })
    gateway.on('data', (chunk: Buffer) => {
      for (const line of lines.add(chunk))
        if (line !== undefined && this.#gateway === gateway) this.#heard({ line, ...messagesOn(line) })
    })
    gateway.on('error', () => undefined)
    gateway.once('close', () => {
      if (this.#gateway !== gateway) return
      this.#gateway = undefined
      for (const answer of this.#own.values()) answer(undefined)
      this.#own.clear()
      // A gateway lost while connecting is handled by the reconnect loop.
      if (this.#state !== 'away') this.#lost()
    })
  }

  #heard({ line, messages, isBatch }: Held): void {
    const passed = messages.flatMap((message) => this.#toClient(message))
    const isSame = passed.length === messages.length && passed.every((message, at) => message === messages[at])
    if (isSame) this.#tell(line)
    else if (isBatch && passed.length > 0) this.#tell(lineOf(passed))
    else for (const message of passed) this.#tell(lineOf(message))
    if (this.#isLast && this.#isQuiet()) this.#finish(exit.ok)
    if (this.#state === 'ending' && [...this.#pending.values()].every(isListen)) this.#gateway?.destroy()
  }

  #toClient(message: Message): readonly Message[] {
    const { id, method } = message
    if (method === endingNotice) {
      this.#state = 'ending'
      return []
    }
    if (isResponse(message)) return this.#answered(message)
    if (isCancelled(message)) return [this.#withdrawn(message)]
    if (!isRequest(message)) return this.#subscriptions.received(message)
    // Request IDs of two gateways may collide, so later ones are rewritten.
    const known = this.#generation === 0 ? id : `gateway-${this.#generation}:${keyOf(id)}`
    this.#asked.set(keyOf(known), { id, known })
    return known === id ? [message] : [{ ...message, id: known }]
  }

  /** Translates the request ID of a cancellation. */
  #withdrawn(message: Message): Message {
    const { requestId } = message.params ?? {}
    const found = [...this.#asked].find(([, { id }]) => keyOf(id) === keyOf(requestId))
    if (found === undefined) return message
    const [key, { known }] = found
    this.#asked.delete(key)
    return known === requestId ? message : { ...message, params: { ...message.params, requestId: known } }
  }

  #answered(message: Message): readonly Message[] {
    const key = keyOf(message.id)
    const own = this.#own.get(key)
    if (own !== undefined) {
      this.#own.delete(key)
      own(message)
      return []
    }
    const asked = this.#pending.get(key)
    // Subscriptions continue with the next gateway.
    if (asked !== undefined && isListen(asked) && this.#state === 'ending') return []
    if (asked !== undefined && isListen(asked)) this.#subscriptions.ended(message.id)
    this.#pending.delete(key)
    this.#session.answered(message)
    return [message]
  }

  #tell(line: Buffer): void {
    const { stdout } = this.#options
    if (stdout.write(line)) return
    const gateway = this.#gateway
    gateway?.pause()
    stdout.once('drain', () => gateway?.resume())
  }

  #lost(): void {
    this.#state = 'away'
    for (const { known } of this.#asked.values()) {
      const params = { requestId: known, reason: 'The gateway ended.' }
      this.#tell(lineOf({ jsonrpc: '2.0', method: 'notifications/cancelled', params }))
    }
    this.#asked.clear()
    for (const [key, message] of this.#pending) {
      if (isRepeatable(message)) continue
      this.#pending.delete(key)
      this.#refuse(
        message,
        'The gateway ended while this request was running. Check whether it took effect before you repeat it.',
      )
    }
    void this.#comeBack()
  }

  #refuse({ id }: Message, message: string): void {
    const error = { code: -32603, message, data: { reason: 'gateway_ended' } }
    this.#tell(lineOf({ jsonrpc: '2.0', id, error }))
  }

  async #comeBack(): Promise<void> {
    const { reconnectTimeoutMs, retryMs, open, signal } = this.#options
    using limit = timeLimit(reconnectTimeoutMs, [signal])
    const { signal: late } = limit
    while (!late.aborted) {
      try {
        await this.#resume(await open(late), late)
        return
      } catch (error) {
        // A 400 is permanent.
        if (error instanceof BridgeRefused && error.status === 400) return this.#giveUp(error.message)
      }
      await pause(retryMs, undefined, { signal: late, ref: false }).catch(() => undefined)
    }
    const seconds = Math.round(reconnectTimeoutMs / 1_000)
    this.#giveUp(`It did not come back within ${seconds} s. Start it with: unfold serve`)
  }

  /** Replays the session to a new gateway, then sends the queued lines. */
  async #resume(gateway: Duplex, late: AbortSignal): Promise<void> {
    this.#generation++
    this.#attach(gateway)
    const { initialize } = this.#session
    if (initialize !== undefined) {
      const answer = await this.#ask(initialize, late)
      if (answer === undefined) return this.#abandon(gateway)
      if (!this.#session.isLike(answer)) return this.#giveUp('The gateway that runs now speaks another version of MCP.')
      for (const message of this.#session.rest) {
        if (isRequest(message)) void this.#ask(message, late)
        else gateway.write(lineOf(message))
      }
    }
    this.#state = 'open'
    const unanswered = [...this.#pending.values()]
    const held = this.#held
    this.#held = []
    for (const message of unanswered) gateway.write(lineOf(message))
    for (const each of held) this.#said(each)
    for (const message of initialize === undefined ? [] : this.#session.changes) this.#tell(lineOf(message))
    this.#options.note('Connected to the gateway again.')
  }

  /** The reconnect loop tries again. */
  #abandon(gateway: Duplex): never {
    this.#gateway = undefined
    gateway.destroy()
    throw new Error('The gateway did not answer.')
  }

  #ask(message: Message, signal: AbortSignal): Promise<Message | undefined> {
    const id = `unfold-bridge-${++this.#ownNumber}`
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve(undefined), { once: true })
      this.#own.set(keyOf(id), resolve)
      this.#gateway?.write(lineOf({ ...message, id }))
    })
  }

  #giveUp(why: string): void {
    if (this.#options.signal.aborted) return
    for (const message of [...this.#pending.values(), ...this.#held.flatMap(({ messages }) => messages.filter(isRequest))])
      this.#refuse(message, `The gateway ended. ${why}`)
    this.#options.note(`The gateway ended. ${why}`)
    this.#finish(exit.unreachable)
  }
}

const isCancelled = ({ method }: Message): boolean => method === 'notifications/cancelled'
