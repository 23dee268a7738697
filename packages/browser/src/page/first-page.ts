import type { Recording } from '../recording/recording.ts'
import type { WatchedBrowser } from './watched.ts'

// Hosts give a call a minute or more; a page that takes longer than this is looked at as far as it is there.
const waitMs = 10_000
const recordMs = 2_000
const pollMs = 20

/** The page that a server opens before anybody asks for anything. */
export interface FirstPage {
  /** Resolves when the page is there, with its own request recorded, when it cannot be opened, or when it takes too long. */
  readonly isHere: Promise<void>
  /** Opens the page; rejects when that fails. */
  open(): Promise<void>
}

/** The page to begin with. `isHere` can be waited for before it is opened. */
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

/** A request is recorded when its body was read, which may be a moment after the page shows it. */
async function documentRecorded(recording: Recording, tab: string): Promise<void> {
  const isPending = (): boolean => recording.pending().some((each) => each.tab === tab && each.type === 'document')
  for (const end = Date.now() + recordMs; isPending() && Date.now() < end; )
    await new Promise((resolve) => setTimeout(resolve, pollMs))
}
