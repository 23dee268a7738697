import type { WatchedBrowser } from '../page/watched-browser.ts'
import type { Baselines } from '../recording/baselines.ts'
import type { Recording } from '../recording/recording.ts'

/** State that the tools work on: the recording and its browser. */
export interface Watch {
  readonly recording: Recording
  readonly browser: Pick<WatchedBrowser, 'tabs' | 'tab' | 'snapshot'>
  readonly baselines: Baselines
  /** Resolves when the first page has loaded or timed out; absent if there is none. */
  readonly firstPage?: Promise<void>
  /** Folder of saved sessions. */
  readonly sessions: string
  /** Folder for generated files. */
  readonly output: string
}
