import { ApiError, request } from './api.ts'
import { EventParser } from './sse.ts'

/** `connecting`: for the first time. `lost`: it was open before; the page shows data of that time. */
export type ConnectionState = 'connecting' | 'open' | 'lost' | 'signed-out'

export interface LiveEvent {
  readonly id: number
  readonly type: string
  readonly at: string
  readonly [key: string]: unknown
}

type Listener = (events: readonly LiveEvent[]) => void

const firstRetryMs = 500
const maxRetryMs = 10_000
// A burst is delivered once per interval, so that it causes one update of the page instead of hundreds.
const batchMs = 100

/** The one event stream of the page. It reconnects, and resumes after the last event that it received. */
class LiveStream {
  readonly #listeners = new Set<Listener>()
  readonly #watchers = new Set<(state: ConnectionState) => void>()
  #state: ConnectionState = 'connecting'
  #lastId = ''
  #batch: LiveEvent[] = []
  #timer: ReturnType<typeof setTimeout> | undefined
  #abort: AbortController | undefined
  #wake: () => void = () => undefined

  get state(): ConnectionState {
    return this.#state
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  watch(watcher: (state: ConnectionState) => void): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** Connects until the page is closed or the user is signed out. */
  async run(): Promise<void> {
    let retryMs = firstRetryMs
    for (;;) {
      try {
        await this.#read(() => {
          retryMs = firstRetryMs
          this.#set('open')
        })
      } catch (error) {
        if (error instanceof ApiError && error.status === 401) return this.#set('signed-out')
      }
      if (this.#state === 'signed-out') return
      this.#set(this.#state === 'connecting' ? 'connecting' : 'lost')
      await this.#pause(retryMs)
      retryMs = Math.min(maxRetryMs, retryMs * 2)
    }
  }

  /** Tries again now instead of waiting. */
  retry(): void {
    this.#wake()
  }

  /** Connects again after a sign-in. */
  signIn(): void {
    this.#move('connecting')
    void this.run()
  }

  /** The session ended, as another request noticed. */
  signOut(): void {
    this.#set('signed-out')
    this.#abort?.abort()
  }

  async #read(opened: () => void): Promise<void> {
    this.#abort = new AbortController()
    const response = await request('/events?types=log,change,call,state,stderr,trust,finding,config,drain', {
      signal: this.#abort.signal,
      headers: this.#lastId === '' ? {} : { 'last-event-id': this.#lastId },
    })
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    const parser = new EventParser()
    opened()
    for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read()) {
      for (const { id, type, data } of parser.push(part.value)) {
        if (id !== '') this.#lastId = id
        this.#add({ ...(JSON.parse(data) as LiveEvent), id: Number(id), type })
      }
    }
  }

  #add(event: LiveEvent): void {
    this.#batch.push(event)
    if (this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      const batch = this.#batch
      this.#batch = []
      this.#timer = undefined
      for (const listener of this.#listeners) listener(batch)
    }, batchMs)
  }

  #set(state: ConnectionState): void {
    if (this.#state !== 'signed-out') this.#move(state)
  }

  #move(state: ConnectionState): void {
    if (this.#state === state) return
    this.#state = state
    for (const watcher of this.#watchers) watcher(state)
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

export const live = new LiveStream()
