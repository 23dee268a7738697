import type { WatchedBrowser } from '../page/watched.ts'
import type { Baselines } from '../recording/baselines.ts'
import type { Recording } from '../recording/recording.ts'

/** All that the tools work on: what was recorded, and the browser it is recorded from. */
export interface Watch {
  readonly recording: Recording
  readonly browser: Pick<WatchedBrowser, 'tabs' | 'tab' | 'snapshot'>
  readonly baselines: Baselines
  /** Resolves when the page to begin with is there, or has taken too long; absent where none was asked for. */
  readonly firstPage?: Promise<void>
  /** The folder of saved sessions. */
  readonly sessions: string
  /** The folder for generated files. */
  readonly output: string
}
