import type { ServerCapabilities, SubscriptionFilter } from '@modelcontextprotocol/client'
import type { ClientError } from '../errors/errors.ts'
import { SubscriptionListener } from '../session/listener.ts'
import type { RenewableSession } from '../session/renewable-session.ts'
import type { Session } from '../session/session.ts'
import type { Clock } from '../time/clock.ts'
import { ChangeFollower, type Changes, type FollowOptions } from './changes.ts'
import type { KnownTools } from './known-tools.ts'

/**
 * Event for watchers of a connection. `changed`: the server announced a change of its tools. `resumed`: notifications arrive again,
 * and some may have been missed. `broken`: the stream of notifications broke.
 */
export type ConnectionEvent = 'changed' | 'resumed' | 'broken'

export interface AnnouncementsOptions {
  readonly session: RenewableSession
  readonly tools: KnownTools
  readonly clock: Clock
  readonly timeoutMs: number
  readonly onWarning: (warning: string) => void
  /** Subscribe to changes of prompts and resources. */
  readonly watchesDocuments: boolean
}

/** Announcements of a server: what has changed, for followers of its tool list and for watchers. */
export class Announcements {
  readonly #options: AnnouncementsOptions
  readonly #followers = new Set<ChangeFollower>()
  readonly #watchers = new Set<(event: ConnectionEvent) => void>()
  #listener: SubscriptionListener | undefined
  #listenerStopped: Promise<void> = Promise.resolve()

  constructor(options: AnnouncementsOptions) {
    this.#options = options
  }

  /** True when the server would notify this client of a change of its tools. */
  get areReceived(): boolean {
    const { latest } = this.#options.session
    const { era, capabilities } = latest.agreement
    if (capabilities.tools?.listChanged !== true || latest.isClosed) return false
    return era === 'session' ? latest.pushStream === 'open' : this.#listener?.receivesChanges === true
  }

  /** Follows a session from its beginning. */
  receive(session: Session): void {
    let opened = 0
    session.client.setNotificationHandler('notifications/tools/list_changed', () => this.invalidate('changed'))
    session.onPushOpen(() => {
      opened++
      if (opened > 1 || this.#isFollowed) this.invalidate()
    })
    session.onPushBreak(() => this.#emit('broken'))
  }

  /** Continues with a session that replaced another one, maybe of another era. */
  resume({ agreement: { era } }: Session): void {
    for (const follower of this.#followers) follower.invalidate()
    this.#emit('resumed')
    if (era === 'session') this.#stopListening()
    else if (this.#isFollowed) void this.#listen()
  }

  /** The tools may have changed. */
  invalidate(event: ConnectionEvent = 'resumed'): void {
    this.#options.tools.invalidate()
    for (const follower of this.#followers) follower.invalidate()
    this.#emit(event)
  }

  follow(options?: FollowOptions): Changes {
    const { session, tools, clock } = this.#options
    return new ChangeFollower(
      {
        clock,
        label: session.latest.label,
        receivesChanges: () => this.areReceived,
        latest: () => tools.latest,
        identity: () => tools.identity,
        current: () => tools.current(),
        invalidate: () => tools.invalidate(),
        attach: async (follower) => {
          this.#followers.add(follower)
          if (session.isClosed) throw session.closedError
          await this.#listen()
        },
        detach: (follower) => {
          this.#followers.delete(follower)
          if (!this.#isFollowed) this.#stopListening()
        },
      },
      options,
    )
  }

  /** Calls `listener` for each event until the returned function is called. Resolves when notifications arrive. */
  async watch(listener: (event: ConnectionEvent) => void): Promise<() => void> {
    this.#watchers.add(listener)
    if (!this.#options.session.isClosed) await this.#listen()
    return () => {
      this.#watchers.delete(listener)
      if (!this.#isFollowed) this.#stopListening()
    }
  }

  /** No more announcements will arrive. */
  fail(failure: ClientError): void {
    this.#stopListening()
    for (const follower of this.#followers) follower.fail(failure)
  }

  /** Ends followers and watchers. Resolves when the server was asked to send no more. */
  close(): Promise<void> {
    this.#watchers.clear()
    this.#stopListening()
    for (const follower of [...this.#followers]) follower.close()
    return this.#listenerStopped
  }

  get #isFollowed(): boolean {
    return this.#followers.size + this.#watchers.size > 0
  }

  #emit(event: ConnectionEvent): void {
    for (const listener of [...this.#watchers]) listener(event)
  }

  /** Opens `subscriptions/listen` (2026-07-28); session-era servers send notifications without it. */
  async #listen(): Promise<void> {
    const { session, clock, timeoutMs, onWarning, watchesDocuments } = this.#options
    if (session.latest.agreement.era !== 'stateless' || this.#listener !== undefined) return
    const filter = ({ agreement }: Session): SubscriptionFilter => filterOf(agreement.capabilities, watchesDocuments)
    if (Object.keys(filter(session.latest)).length === 0) return
    this.#listener = new SubscriptionListener({
      session: () => session.current(),
      isReplaced: (old, error) => session.isReplaced(old, error),
      onOpen: () => this.invalidate(),
      onClosed: () => this.#emit('broken'),
      ...{ filter, clock, timeoutMs, onWarning },
    })
    await this.#listener.start()
  }

  #stopListening(): void {
    if (this.#listener === undefined) return
    this.#listenerStopped = this.#listener.stop()
    this.#listener = undefined
  }
}

function filterOf({ tools, prompts, resources }: ServerCapabilities, watchesDocuments: boolean): SubscriptionFilter {
  return {
    ...(tools?.listChanged === true && { toolsListChanged: true }),
    ...(watchesDocuments && prompts?.listChanged === true && { promptsListChanged: true }),
    ...(watchesDocuments && resources?.listChanged === true && { resourcesListChanged: true }),
  }
}
