import { setTimeout as pause } from 'node:timers/promises'
import type { Recording } from '../recording/recording.ts'
import type { WatchedBrowser } from './watched-browser.ts'

// Hosts allow a minute or more per call; a page that takes longer than this is used as far as it has loaded.
const waitMs = 10_000
const recordMs = 2_000
const pollMs = 20

/** Page that the server opens at start-up. */
export interface FirstPage {
  /** Resolves when the page is loaded and recorded, cannot be opened, or takes too long. */
  readonly isHere: Promise<void>
  /** Opens the page; rejects on failure. */
  open(): Promise<void>
}

/** Creates the first page. `isHere` can be awaited before it is opened. */
export function firstPage(browser: Pick<WatchedBrowser, 'open'>, recording: Recording, url: string): FirstPage {
  let show = (): void => undefined
  const isHere = new Promise<void>((resolve) => {
    show = resolve
  })
  return {
    isHere,
    async open() {
      const tooLong = setTimeout(show, waitMs)
      try {
        const { id } = await browser.open(url)
        await documentRecorded(recording, id)
      } finally {
        clearTimeout(tooLong)
        show()
      }
    },
  }
}

/** Waits until the document request is recorded, which may be shortly after the page loads. */
async function documentRecorded(recording: Recording, tab: string): Promise<void> {
  const isPending = (): boolean => recording.pending().some((each) => each.tab === tab && each.type === 'document')
  for (const end = Date.now() + recordMs; isPending() && Date.now() < end; ) await pause(pollMs)
}
