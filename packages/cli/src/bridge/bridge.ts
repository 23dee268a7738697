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
const drainTimeoutMs = 5_000

interface ParsedLine {
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
  #state: 'open' | 'ending' | 'disconnected' = 'disconnected'
  #generation = 0
  /** Client requests without a response. */
  readonly #pending = new Map<string, Message>()
  /** Lines received while no gateway was connected. */
  #queued: ParsedLine[] = []
  /** Gateway requests without a response: the gateway's ID by the ID sent to the client. */
  readonly #gatewayRequests = new Map<string, { readonly id: unknown; readonly known: unknown }>()
  readonly #ownRequests = new Map<string, (response: Message | undefined) => void>()
  #ownRequestCount = 0
  readonly #session = new Session()
  readonly #subscriptions = new Subscriptions()
  #hasClientEnded = false
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
    const finish = (): void => this.#finish(exit.ok)
    signal.addEventListener('abort', finish, { once: true })
    stdout.once('error', finish)
    this.#attach(gateway)
    this.#state = 'open'
    const lines = new ByteLines<Buffer>({ allocate: (size) => Buffer.allocUnsafe(size), keepsEnds: true })
    stdin.on('data', (chunk: Buffer) => {
      for (const line of lines.add(chunk)) if (line !== undefined) this.#onClientLine({ line, ...messagesOn(line) })
    })
    const end = (): void => void this.#onClientEnd()
    stdin.once('end', end).once('close', end)
    if (signal.aborted) finish()
    const code = await this.#finished
    this.#state = 'disconnected'
    this.#gateway?.destroy()
    // Otherwise stdin would keep the process alive.
    stdin.pause()
    return code
  }

  async #onClientEnd(): Promise<void> {
    if (this.#hasClientEnded) return
    this.#hasClientEnded = true
    if (this.#isIdle()) this.#finish(exit.ok)
    await pause(drainTimeoutMs, undefined, { ref: false })
    this.#finish(exit.ok)
  }

  #isIdle(): boolean {
    return this.#queued.length === 0 && [...this.#pending.values()].every(isListen)
  }

  #onClientLine(line: ParsedLine): void {
    const hasRequest = line.messages.some(isRequest)
    if (this.#state === 'open' || (this.#state === 'ending' && !hasRequest)) {
      this.#pass(line)
      return
    }
    const cancelled = line.messages.filter(isCancelled).map(({ params }) => keyOf(params?.requestId))
    // Cancels requests that were not sent yet.
    this.#queued = this.#queued.filter(({ messages }) => !messages.some(({ id }) => cancelled.includes(keyOf(id))))
    this.#queued.push(line)
  }

  #pass({ line, messages, isBatch }: ParsedLine): void {
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
      const request = this.#gatewayRequests.get(keyOf(message.id))
      this.#gatewayRequests.delete(keyOf(message.id))
      if (request === undefined) return []
      return keyOf(request.id) === keyOf(message.id) ? [message] : [{ ...message, id: request.id }]
    }
    if (isRequest(message)) this.#pending.set(keyOf(message.id), message)
    if (isCancelled(message)) {
      this.#pending.delete(keyOf(message.params?.requestId))
      this.#subscriptions.ended(message.params?.requestId)
    }
    this.#session.recordSent(message)
    return [message]
  }

  #attach(gateway: Duplex): void {
    this.#gateway = gateway
    const lines = new ByteLines<Buffer>({ allocate: (size) => Buffer.allocUnsafe(size), keepsEnds: true })
    gateway.on('data', (chunk: Buffer) => {
      for (const line of lines.add(chunk))
        if (line !== undefined && this.#gateway === gateway) this.#onGatewayLine({ line, ...messagesOn(line) })
    })
    gateway.on('error', () => undefined)
    gateway.once('close', () => {
      if (this.#gateway !== gateway) return
      this.#gateway = undefined
      for (const resolve of this.#ownRequests.values()) resolve(undefined)
      this.#ownRequests.clear()
      // A gateway lost while connecting is handled by the reconnect loop.
      if (this.#state !== 'disconnected') this.#onGatewayClosed()
    })
  }

  #onGatewayLine({ line, messages, isBatch }: ParsedLine): void {
    const passed = messages.flatMap((message) => this.#toClient(message))
    const isSame = passed.length === messages.length && passed.every((message, at) => message === messages[at])
    if (isSame) this.#writeToClient(line)
    else if (isBatch && passed.length > 0) this.#writeToClient(lineOf(passed))
    else for (const message of passed) this.#writeToClient(lineOf(message))
    if (this.#hasClientEnded && this.#isIdle()) this.#finish(exit.ok)
    if (this.#state === 'ending' && [...this.#pending.values()].every(isListen)) this.#gateway?.destroy()
  }

  #toClient(message: Message): readonly Message[] {
    const { id, method } = message
    if (method === endingNotice) {
      this.#state = 'ending'
      return []
    }
    if (isResponse(message)) return this.#onResponse(message)
    if (isCancelled(message)) return [this.#translateCancellation(message)]
    if (!isRequest(message)) return this.#subscriptions.received(message)
    // Request IDs of two gateways may collide, so later ones are rewritten.
    const known = this.#generation === 0 ? id : `gateway-${this.#generation}:${keyOf(id)}`
    this.#gatewayRequests.set(keyOf(known), { id, known })
    return known === id ? [message] : [{ ...message, id: known }]
  }

  /** Translates the request ID of a cancellation. */
  #translateCancellation(message: Message): Message {
    const { requestId } = message.params ?? {}
    const found = [...this.#gatewayRequests].find(([, { id }]) => keyOf(id) === keyOf(requestId))
    if (found === undefined) return message
    const [key, { known }] = found
    this.#gatewayRequests.delete(key)
    return known === requestId ? message : { ...message, params: { ...message.params, requestId: known } }
  }

  #onResponse(message: Message): readonly Message[] {
    const key = keyOf(message.id)
    const resolveOwn = this.#ownRequests.get(key)
    if (resolveOwn !== undefined) {
      this.#ownRequests.delete(key)
      resolveOwn(message)
      return []
    }
    const request = this.#pending.get(key)
    // Subscriptions continue with the next gateway.
    if (request !== undefined && isListen(request) && this.#state === 'ending') return []
    if (request !== undefined && isListen(request)) this.#subscriptions.ended(message.id)
    this.#pending.delete(key)
    this.#session.recordResponse(message)
    return [message]
  }

  #writeToClient(line: Buffer): void {
    const { stdout } = this.#options
    if (stdout.write(line)) return
    const gateway = this.#gateway
    gateway?.pause()
    stdout.once('drain', () => gateway?.resume())
  }

  #onGatewayClosed(): void {
    this.#state = 'disconnected'
    for (const { known } of this.#gatewayRequests.values()) {
      const params = { requestId: known, reason: 'The gateway stopped.' }
      this.#writeToClient(lineOf({ jsonrpc: '2.0', method: 'notifications/cancelled', params }))
    }
    this.#gatewayRequests.clear()
    for (const [key, message] of this.#pending) {
      if (isRepeatable(message)) continue
      this.#pending.delete(key)
      this.#reject(
        message,
        'The gateway stopped while this request was running. Check whether it took effect before repeating it.',
      )
    }
    void this.#reconnect()
  }

  #reject({ id }: Message, message: string): void {
    const error = { code: -32603, message, data: { reason: 'gateway_ended' } }
    this.#writeToClient(lineOf({ jsonrpc: '2.0', id, error }))
  }

  async #reconnect(): Promise<void> {
    const { reconnectTimeoutMs, retryMs, open, signal } = this.#options
    using limit = timeLimit(reconnectTimeoutMs, [signal])
    const { signal: timeout } = limit
    while (!timeout.aborted) {
      try {
        await this.#resume(await open(timeout), timeout)
        return
      } catch (error) {
        // A 400 is permanent.
        if (error instanceof BridgeRefused && error.status === 400) return this.#giveUp(error.message)
      }
      await pause(retryMs, undefined, { signal: timeout, ref: false }).catch(() => undefined)
    }
    const seconds = Math.round(reconnectTimeoutMs / 1_000)
    this.#giveUp(`It did not restart within ${seconds} s. Start it with "unfold serve".`)
  }

  /** Replays the session to a new gateway, then sends the queued lines. */
  async #resume(gateway: Duplex, timeout: AbortSignal): Promise<void> {
    this.#generation++
    this.#attach(gateway)
    const { initialize } = this.#session
    if (initialize !== undefined) {
      const response = await this.#request(initialize, timeout)
      if (response === undefined) return this.#abandon(gateway)
      if (!this.#session.isCompatible(response)) return this.#giveUp('The new gateway uses a different MCP version.')
      for (const message of this.#session.followUps) {
        if (isRequest(message)) void this.#request(message, timeout)
        else gateway.write(lineOf(message))
      }
    }
    this.#state = 'open'
    const unanswered = [...this.#pending.values()]
    const queued = this.#queued
    this.#queued = []
    for (const message of unanswered) gateway.write(lineOf(message))
    for (const line of queued) this.#onClientLine(line)
    for (const message of initialize === undefined ? [] : this.#session.changeNotifications) this.#writeToClient(lineOf(message))
    this.#options.note('Reconnected to the gateway.')
  }

  /** The reconnect loop tries again. */
  #abandon(gateway: Duplex): never {
    this.#gateway = undefined
    gateway.destroy()
    throw new Error('The gateway did not respond.')
  }

  #request(message: Message, signal: AbortSignal): Promise<Message | undefined> {
    const id = `unfold-bridge-${++this.#ownRequestCount}`
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve(undefined), { once: true })
      this.#ownRequests.set(keyOf(id), resolve)
      this.#gateway?.write(lineOf({ ...message, id }))
    })
  }

  #giveUp(why: string): void {
    if (this.#options.signal.aborted) return
    for (const message of [...this.#pending.values(), ...this.#queued.flatMap(({ messages }) => messages.filter(isRequest))])
      this.#reject(message, `The gateway stopped. ${why}`)
    this.#options.note(`The gateway stopped. ${why}`)
    this.#finish(exit.unreachable)
  }
}

const isCancelled = ({ method }: Message): boolean => method === 'notifications/cancelled'
