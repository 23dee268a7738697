import { availableParallelism } from 'node:os'
import type { Clock } from '@unfold-mcp/client'
import {
  type CommandTarget,
  type Connection,
  type ConnectOptions,
  connect,
  launcherOf,
  pendingSandboxInstall,
  type Target,
} from '@unfold-mcp/client'
import { InstallQueue } from './install-queue.ts'
import { isInstalled, npxFolder } from './npx-cache.ts'

// Twenty programs that start together would all be ready late.
const maxConcurrent = Math.max(2, availableParallelism())
// Leaves one CPU for clients while no start is awaited.
const maxConcurrentUnawaited = Math.max(1, availableParallelism() - 1)
// After this time a start no longer blocks others.
const slowAfterMs = 100
const installPollMs = 1_000

interface Start {
  readonly isAwaited: () => boolean
  readonly go: () => void
}

/** Phase of a start. `queued`: waiting for other installations. */
export type StartPhase = 'queued' | 'installing' | 'starting'

/** Decides when a server is started. */
export interface StartRequest {
  readonly isAwaited: () => boolean
  /** True if it connected since the gateway started: then it is installed. */
  readonly hasAnswered: boolean
  /** True if its tools are cached: then it was installed before. */
  readonly wasKnown: boolean
  readonly onPhase: (phase: StartPhase) => void
}

const immediate: StartRequest = { isAwaited: () => true, hasAnswered: true, wasKnown: true, onPhase: () => undefined }

export interface StartQueueOptions {
  readonly clock: Clock
  /** Until this resolves, only awaited servers are started. */
  readonly deferStartsUntil?: Promise<unknown> | undefined
}

/**
 * Starts processes a few at a time, so that the first tools are available early. Awaited servers come first, and slow ones do not
 * block others.
 */
export class StartQueue {
  readonly #clock: Clock
  readonly #installs: InstallQueue
  readonly #queue: Start[] = []
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

  /** Connects to a server; queued if a process has to be started. */
  async open(target: Target, options: ConnectOptions, starting: StartRequest = immediate): Promise<Connection> {
    if (!('command' in target)) return connect(target, options)
    const folder = await pendingInstallFolder(target, starting)
    return folder === undefined ? this.#start(target, options, starting) : this.#install({ target, folder }, options, starting)
  }

  /** Starts queued servers that may start now, for example because one is now awaited. */
  review(): void {
    this.#installs.review()
    this.#startQueued()
  }

  /** Starts in the install queue, until the first message. */
  async #install(
    { target, folder }: { readonly target: CommandTarget; readonly folder: string },
    options: ConnectOptions,
    starting: StartRequest,
  ): Promise<Connection> {
    const { isAwaited, onPhase } = starting
    const { signal } = options
    const leave = await this.#installs.enter({ folder, isAwaited, signal, queued: () => onPhase('queued') })
    let isInstalling = true
    const installed = (): void => {
      if (!isInstalling) return
      isInstalling = false
      leave()
      onPhase('starting')
    }
    const poll = async (): Promise<void> => {
      if (isInstalling && (await isInstalled(folder))) installed()
      else if (isInstalling) this.#clock.after(installPollMs, () => void poll(), true)
    }
    const onProcess: ConnectOptions['onProcess'] = (pid, phase, id) => {
      options.onProcess?.(pid, phase, id)
      if (phase === 'started') installed()
    }
    try {
      onPhase('installing')
      // An installed server may take long to respond, for example if it waits for a sign-in.
      if (folder !== '') void poll()
      return await this.#start(target, { ...options, onProcess }, starting)
    } finally {
      isInstalling = false
      leave()
    }
  }

  async #start(target: CommandTarget, options: ConnectOptions, { isAwaited }: StartRequest): Promise<Connection> {
    await this.#enqueue(isAwaited, options.signal)
    let hasLeft = false
    const leave = (): void => {
      if (hasLeft) return
      hasLeft = true
      this.#running--
      this.review()
    }
    const stopTimer = this.#clock.after(slowAfterMs, leave)
    try {
      return await connect(target, options)
    } finally {
      stopTimer()
      leave()
    }
  }

  #startQueued(): void {
    while (this.#running < maxConcurrent) {
      const awaited = this.#queue.findIndex(({ isAwaited }) => isAwaited())
      const mayStartAny = this.#isCalm && this.#running < maxConcurrentUnawaited
      if (awaited === -1 && !mayStartAny) return
      const [next] = this.#queue.splice(Math.max(0, awaited), 1)
      if (next === undefined) return
      this.#running++
      next.go()
    }
  }

  #enqueue(isAwaited: () => boolean, signal: AbortSignal | undefined): Promise<void> {
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
        this.#queue.splice(this.#queue.indexOf(start), 1)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', abort)
      this.#queue.push(start)
      this.review()
    })
  }
}

/** Folder of an installation that is needed; `undefined` if the server is installed. */
async function pendingInstallFolder(target: CommandTarget, { hasAnswered, wasKnown }: StartRequest): Promise<string | undefined> {
  const launcher = launcherOf(target)
  if (launcher === undefined || hasAnswered) return undefined
  if (target.sandbox !== undefined) return pendingSandboxInstall(target)
  const { packages } = launcher
  // Only the folders of npx are known. Other launchers have installed the server if it connected before.
  if (packages.length === 0) return wasKnown ? undefined : ''
  const folder = npxFolder(packages, target)
  return (await isInstalled(folder)) ? undefined : folder
}
