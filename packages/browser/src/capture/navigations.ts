import type { EventOf } from './protocol.ts'

type Requested = EventOf<'Page.frameRequestedNavigation'>
type Started = EventOf<'Page.frameStartedNavigating'>

const reasons: { readonly [reason in Requested['reason']]?: string } = {
  anchorClick: 'link',
  formSubmissionGet: 'form',
  formSubmissionPost: 'form',
  scriptInitiated: 'script',
  metaTagRefresh: 'refresh',
  httpHeaderRefresh: 'refresh',
  reload: 'reload',
  other: 'script',
}
const kinds: { readonly [kind in Started['navigationType']]?: string } = {
  reload: 'reload',
  reloadBypassingCache: 'reload',
  restore: 'history',
  restoreWithPost: 'history',
  historySameDocument: 'history',
  historyDifferentDocument: 'history',
}

/** How the next navigation of a frame came about, from what the browser says before it happens. */
export class NavigationCauses {
  #reason: string | undefined
  #kind: string | undefined

  requested({ reason, disposition }: Pick<Requested, 'reason' | 'disposition'>): void {
    if (disposition === 'currentTab') this.#reason = reasons[reason]
  }

  started({ navigationType }: Pick<Started, 'navigationType'>): void {
    this.#kind = kinds[navigationType]
  }

  /** The next navigation comes of something in another tab. */
  inherit(cause: string): void {
    this.#reason = cause
  }

  /** Forgets what was asked for and never happened. */
  forget(): void {
    this.#reason = undefined
    this.#kind = undefined
  }

  /** The cause of a navigation that just happened. Nothing in the page asked for it: then somebody typed it. */
  take(): string {
    const cause = this.#kind ?? this.#reason ?? 'typed'
    this.#kind = undefined
    this.#reason = undefined
    return cause
  }

  /** The cause of a change of the address without leaving the page. */
  takeWithin(type: EventOf<'Page.navigatedWithinDocument'>['navigationType']): string {
    const isHistory = this.#kind === 'history'
    const reason = this.#reason
    this.#kind = undefined
    this.#reason = undefined
    if (isHistory) return 'history'
    if (type === 'historyApi') return 'script'
    return reason ?? (type === 'fragment' ? 'link' : 'script')
  }
}

/** The cause of a navigation in a new tab that something in this one asked for; nothing when it was for this one. */
export function causeElsewhere({ reason, disposition }: Requested): string | undefined {
  return disposition === 'currentTab' || disposition === 'download' ? undefined : (reasons[reason] ?? 'link')
}
