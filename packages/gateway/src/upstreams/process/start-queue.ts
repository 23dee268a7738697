import { availableParallelism } from 'node:os'
import type { Clock } from '@unfold-mcp/client'
import { type CommandTarget, type Connection, type ConnectOptions, connect, launcherOf, type Target } from '@unfold-mcp/client'
import { InstallQueue } from './install-queue.ts'
import { isInstalled, npxFolder } from './npx-cache.ts'

// Twenty programs that start together are all ready at the same late moment.
const atOnce = Math.max(2, availableParallelism())
// While nobody waits for a program, there is something better to do for one processor: to serve clients.
const calmlyAtOnce = Math.max(1, availableParallelism() - 1)
const maxMs = 100
// How often it is looked at whether an installation is complete.
const lookMs = 1_000

interface Start {
  readonly isAwaited: () => boolean
  readonly go: () => void
}

/** What is being done to start a server. `queued`: it is to be installed, and others are before it. */
export type StartPhase = 'queued' | 'installing' | 'starting'

/** What decides when a server is started. */
export interface StartRequest {
  /** Whether somebody waits for it. */
  readonly isAwaited: () => boolean
  /** Whether it has answered since the gateway started: then it is installed. */
  readonly hasAnswered: boolean
  /** Whether it answered before that, started in the same way. */
  readonly wasKnown: boolean
  /** Called when the start comes to another phase. */
  readonly phase: (phase: StartPhase) => void
}

const atOnceAndAwaited: StartRequest = { isAwaited: () => true, hasAnswered: true, wasKnown: true, phase: () => undefined }

export interface StartQueueOptions {
  readonly clock: Clock
  /** Until this is done, only programs are started that somebody waits for. */
  readonly deferStartsUntil?: Promise<unknown> | undefined
}

/**
 * StartQueue programs a few at a time, so that the first can be served while others still start; those that somebody waits for come
 * first. One that is slow holds nobody up.
 */
export class StartQueue {
  readonly #clock: Clock
  readonly #installs: InstallQueue
  readonly #line: Start[] = []
  #running = 0
  #isCalm: boolean

  constructor({ clock, deferStartsUntil }: StartQueueOptions) {
    this.#clock = clock
    this.#installs = new InstallQueue(clock)
    this.#isCalm = deferStartsUntil === undefined
    const begin = (): void => {
      this.#isCalm = true
      this.review()
    }
    deferStartsUntil?.then(begin, begin)
  }

  /** Connects to a server: at once, or in its turn where a program has to be started for it. */
  async open(target: Target, options: ConnectOptions, starting: StartRequest = atOnceAndAwaited): Promise<Connection> {
    if (!('command' in target)) return connect(target, options)
    const place = await placeOf(target, starting)
    return place === undefined ? this.#start(target, options, starting) : this.#install({ target, place }, options, starting)
  }

  /** StartQueue whoever's turn it is now: somebody may wait for one that nobody waited for before. */
  review(): void {
    this.#installs.review()
    this.#reviewLine()
  }

  /** The same in its turn among those that are installed, which is over with its first message. */
  async #install(
    { target, place }: { readonly target: CommandTarget; readonly place: string },
    options: ConnectOptions,
    starting: StartRequest,
  ): Promise<Connection> {
    const { isAwaited, phase } = starting
    const { signal } = options
    const leave = await this.#installs.enter({ place, isAwaited, signal, queued: () => phase('queued') })
    let isInstalling = true
    const installed = (): void => {
      if (!isInstalling) return
      isInstalling = false
      leave()
      phase('starting')
    }
    const read = async (): Promise<void> => {
      if (isInstalling && (await isInstalled(place))) installed()
      else if (isInstalling) this.#clock.after(lookMs, () => void read(), true)
    }
    const onProcess: ConnectOptions['onProcess'] = (pid, phase) => {
      options.onProcess?.(pid, phase)
      if (phase === 'started') installed()
    }
    try {
      phase('installing')
      // What is installed may take long to answer, such as one that waits for a person to sign in.
      if (place !== '') void read()
      return await this.#start(target, { ...options, onProcess }, starting)
    } finally {
      isInstalling = false
      leave()
    }
  }

  async #start(target: CommandTarget, options: ConnectOptions, { isAwaited }: StartRequest): Promise<Connection> {
    await this.#turn(isAwaited, options.signal)
    let hasLeft = false
    const leave = (): void => {
      if (hasLeft) return
      hasLeft = true
      this.#running--
      this.review()
    }
    const stopTimer = this.#clock.after(maxMs, leave)
    try {
      return await connect(target, options)
    } finally {
      stopTimer()
      leave()
    }
  }

  #reviewLine(): void {
    while (this.#running < atOnce) {
      const awaited = this.#line.findIndex(({ isAwaited }) => isAwaited())
      const mayStartAny = this.#isCalm && this.#running < calmlyAtOnce
      if (awaited === -1 && !mayStartAny) return
      const [next] = this.#line.splice(Math.max(0, awaited), 1)
      if (next === undefined) return
      this.#running++
      next.go()
    }
  }

  #turn(isAwaited: () => boolean, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason)
        return
      }
      const off = (): void => signal?.removeEventListener('abort', abort)
      const go = (): void => {
        off()
        resolve()
      }
      const start: Start = { isAwaited, go }
      const abort = (): void => {
        off()
        this.#line.splice(this.#line.indexOf(start), 1)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', abort)
      this.#line.push(start)
      this.review()
    })
  }
}

/** Where a server is about to be installed; `undefined` for one that is installed, or needs not be. */
async function placeOf(target: CommandTarget, { hasAnswered, wasKnown }: StartRequest): Promise<string | undefined> {
  const launcher = launcherOf(target)
  if (launcher === undefined || hasAnswered) return undefined
  const { packages } = launcher
  // Where others install to is theirs to know; a server that answered before was installed then.
  if (packages.length === 0) return wasKnown ? undefined : ''
  const folder = npxFolder(packages, target)
  return (await isInstalled(folder)) ? undefined : folder
}
