import { type ConnectOptions, connect } from '@unfold-mcp/client'
import type { UpstreamConfig, UpstreamSettings } from '../config.ts'
import type { UpstreamConnection } from '../connection.ts'
import type { UpstreamOptions } from '../upstream.ts'
import type { StartPhase, StartRequest } from './start-queue.ts'

export interface StartAttemptOptions {
  readonly upstream: UpstreamOptions
  readonly config: UpstreamConfig
  readonly settings: UpstreamSettings
  /** Number of attempts since it last worked, this one included. */
  readonly number: number
  readonly request: Omit<StartRequest, 'onPhase'>
  readonly entered: (phase: 'installing' | 'starting') => void
}

// Interval of progress events during an installation.
const progressMs = 15_000
// Output of npm that is not an error.
const npmNotice = /^npm (?:warn|notice)\b|^\s*$/iu

/** One attempt to connect to an upstream, with its progress. */
export class StartAttempt {
  readonly #options: StartAttemptOptions
  readonly #stopped = new AbortController()
  #isQueued = false
  #lastOutput: string | undefined
  #installingSince: number | undefined
  #stopProgress: () => void = () => undefined

  constructor(options: StartAttemptOptions) {
    this.#options = options
  }

  /** True while it waits for other installations. */
  get isQueued(): boolean {
    return this.#isQueued
  }

  /** Last line on stderr. */
  get lastOutput(): string | undefined {
    return this.#lastOutput
  }

  get isStopped(): boolean {
    return this.#stopped.signal.aborted
  }

  async open(): Promise<UpstreamConnection> {
    const { config, settings, request } = this.#options
    const { name: upstream, connect: extra, open = connect, emit } = this.#options.upstream
    const { target, protocol } = config
    const { startTimeoutMs: timeoutMs, installTimeoutMs } = settings
    const options: ConnectOptions = {
      ...extra,
      name: upstream,
      timeoutMs,
      installTimeoutMs,
      signal: this.#stopped.signal,
      onStderr: (line) => {
        if (!npmNotice.test(line)) this.#lastOutput = line
        emit('stderr', { upstream, line })
      },
      onWarning: (message) => emit('warning', { upstream, message }),
      onLog: (entry) => emit('log', { upstream, entry }),
      onDocumentChange: (notice) => emit('documents', { upstream, notice }),
      ...(protocol !== undefined && { protocol }),
    }
    try {
      return await open(target, options, { ...request, onPhase: (phase) => this.#enter(phase) })
    } finally {
      this.#stopProgress()
    }
  }

  stop(): void {
    this.#stopped.abort()
    this.#stopProgress()
  }

  #enter(phase: StartPhase): void {
    if (this.isStopped) return
    const { name: upstream, clock, emit } = this.#options.upstream
    this.#isQueued = phase === 'queued'
    this.#stopProgress()
    if (phase === 'queued') return
    this.#options.entered(phase)
    // A listener may have stopped it.
    if (this.isStopped) return
    if (phase === 'installing') {
      this.#installingSince ??= clock.now()
      this.#scheduleProgress()
    } else if (this.#installingSince !== undefined) {
      emit('installed', { upstream, ms: Math.round(clock.now() - this.#installingSince) })
      this.#installingSince = undefined
    }
  }

  #scheduleProgress(): void {
    const { name: upstream, clock, emit } = this.#options.upstream
    const { number } = this.#options
    const report = (): void => {
      emit('installing', { upstream, attempt: number, ms: Math.round(clock.now() - (this.#installingSince ?? 0)) })
      this.#scheduleProgress()
    }
    this.#stopProgress = clock.after(progressMs, report, true)
  }
}
