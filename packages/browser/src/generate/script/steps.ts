import type { UserAction } from '../../records/records.ts'
import { describeAction, type ScriptAction, toScriptAction } from './action.ts'
import { gestures } from './gestures.ts'
import { addressOf } from './url.ts'

/** Destination of a step. */
interface Arrival {
  readonly url: URL
  readonly cause: string | undefined
  /** Start and destination have the same URL, so the URL does not show completion. */
  readonly isSame: boolean
}

export interface Step {
  /** Description. Contains untrusted text of the page. */
  readonly title: string
  /** Variable of the page. */
  readonly page: string
  readonly tab: string
  readonly at: number
  readonly scriptAction: ScriptAction
  /** URL of the frame, if the action was in one. */
  readonly frame?: URL
  arrival?: Arrival
  /** Variable of the page that this step opens in a new tab. */
  opens?: string
}

/** Recorded actions as repeatable steps. */
export interface Plan {
  readonly steps: readonly Step[]
  /** Origin of the first page. */
  readonly origin: string
  /** Variables of all pages, in order. */
  readonly pages: readonly string[]
  /** Final URL of each page, by variable. */
  readonly ends: ReadonlyMap<string, Pick<Arrival, 'url' | 'cause'>>
  /** Reasons why actions were omitted, with their number. */
  readonly leftOut: ReadonlyMap<string, number>
}

// Later events were hardly caused by the action. A server may be slow; manual history navigation takes longer than a script.
const causedWithinMs = new Map([
  ['typed', 0],
  ['reload', 0],
  ['history', 500],
  ['link', 60_000],
  ['form', 60_000],
])
const usuallyWithinMs = 5_000
const maxPages = 10

/** Converts actions to steps with their effects. */
export function buildPlan(actions: readonly UserAction[]): Plan {
  const plan = new Planning()
  for (const action of gestures(actions)) plan.add(action)
  return plan
}

class Planning implements Plan {
  readonly steps: Step[] = []
  readonly ends = new Map<string, Pick<Arrival, 'url' | 'cause'>>()
  readonly leftOut = new Map<string, number>()
  readonly #pages = new Map<string, string>()
  readonly #histories = new Map<string, { readonly urls: string[]; index: number }>()
  readonly #secrets = new Map<string, number>()
  #origin: string | undefined

  get origin(): string {
    return this.#origin ?? 'null'
  }

  get pages(): readonly string[] {
    return [...this.#pages.values()]
  }

  add(action: UserAction): void {
    const url = addressOf(action.url)
    const page = this.#pages.get(action.tab)
    if (url === undefined) this.#leave('it was on a page that has no usual address')
    else if (page === undefined && this.#pages.size >= maxPages) this.#leave('it was in one tab too many')
    else if (page === undefined) this.#begin(action, url)
    else if (action.action === 'navigation') this.#navigate(action, url, page)
    else this.#do(action, page, url)
  }

  #begin(action: UserAction, url: URL): void {
    const page = this.#pages.size === 0 ? 'page' : `page${this.#pages.size + 1}`
    const opener = this.#cause(action, ({ tab, scriptAction }) => tab !== action.tab && scriptAction.does === 'click')
    this.#pages.set(action.tab, page)
    this.#histories.set(page, { urls: [], index: -1 })
    // Actions in a frame belong to the page of the frame.
    const start = (action.pageUrl === undefined ? undefined : addressOf(action.pageUrl)) ?? url
    if (start.origin !== 'null') this.#origin ??= start.origin
    const isNavigation = action.action === 'navigation'
    if (isNavigation && opener !== undefined && opener.opens === undefined) {
      opener.opens = page
      this.#visit(page, url, action.cause)
      return
    }
    this.#push(action, page, { does: 'open', url: start })
    this.#visit(page, start, action.cause)
    if (!isNavigation) this.#do(action, page, url)
  }

  #navigate(action: UserAction, url: URL, page: string): void {
    const { cause } = action
    const before = this.ends.get(page)
    const causing = this.#cause(action, (step) => step.page === page && step.scriptAction.does !== 'scroll')
    const moved = cause === 'history' ? this.#moved(page, url) : undefined
    if (causing !== undefined && ('on' in causing.scriptAction || cause === 'script' || cause === 'refresh')) {
      causing.arrival = { url, cause, isSame: cause !== 'script' && url.href === before?.url.href }
    } else if (cause === 'reload') this.#push(action, page, { does: 'reload' })
    else if (moved !== undefined) this.#push(action, page, { does: moved }, { arrival: { url, cause, isSame: false } })
    else this.#push(action, page, { does: 'open', url })
    this.#visit(page, url, cause, moved)
  }

  #do(action: UserAction, page: string, url: URL): void {
    const scriptAction = toScriptAction(action, (secret) => this.#secret(secret))
    const isInFrame = bare(url) !== bare(this.ends.get(page)?.url ?? url)
    if (typeof scriptAction === 'string') this.#leave(scriptAction)
    else this.#push(action, page, scriptAction, isInFrame ? { frame: url } : {})
  }

  #secret({ url, selectors }: UserAction): number {
    const field = JSON.stringify([url.replace(/[?#].*$/s, ''), selectors?.css])
    const known = this.#secrets.get(field) ?? this.#secrets.size + 1
    this.#secrets.set(field, known)
    return known
  }

  /** Returns the last step that can have caused this, if it is recent enough. */
  #cause({ at, cause }: UserAction, isMeant: (step: Step) => boolean): Step | undefined {
    const step = this.steps.findLast(isMeant)
    const max = causedWithinMs.get(cause ?? '') ?? usuallyWithinMs
    return step !== undefined && max > 0 && at - step.at <= max ? step : undefined
  }

  #push({ tab, at }: UserAction, page: string, scriptAction: ScriptAction, more: Pick<Step, 'arrival' | 'frame'> = {}): void {
    this.steps.push({ title: describeAction(scriptAction), page, tab, at, scriptAction, ...more })
  }

  #leave(why: string): void {
    this.leftOut.set(why, (this.leftOut.get(why) ?? 0) + 1)
  }

  #moved(page: string, url: URL): 'back' | 'forward' | undefined {
    const { urls, index } = this.#histories.get(page) ?? { urls: [], index: -1 }
    if (urls[index - 1] === url.href) return 'back'
    return urls[index + 1] === url.href ? 'forward' : undefined
  }

  #visit(page: string, url: URL, cause: string | undefined, moved?: 'back' | 'forward'): void {
    this.ends.set(page, { url, cause })
    const history = this.#histories.get(page)
    if (history === undefined) return
    if (moved !== undefined) {
      history.index += moved === 'back' ? -1 : 1
      return
    }
    if (history.urls[history.index] === url.href) return
    history.urls.splice(history.index + 1, Infinity, url.href)
    history.index += 1
  }
}

function bare(url: URL): string {
  return url.href.replace(/#.*$/s, '')
}
