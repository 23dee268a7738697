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

/** Determines the cause of the next navigation of a frame from the preceding browser events. */
export class NavigationCauses {
  #reason: string | undefined
  #kind: string | undefined

  requested({ reason, disposition }: Pick<Requested, 'reason' | 'disposition'>): void {
    if (disposition === 'currentTab') this.#reason = reasons[reason]
  }

  started({ navigationType }: Pick<Started, 'navigationType'>): void {
    this.#kind = kinds[navigationType]
  }

  /** The next navigation was caused in another tab. */
  inherit(cause: string): void {
    this.#reason = cause
  }

  /** Discards requested navigations that did not happen. */
  forget(): void {
    this.#reason = undefined
    this.#kind = undefined
  }

  /** Returns the cause of a completed navigation; without a request from the page, it was typed. */
  take(): string {
    const cause = this.#kind ?? this.#reason ?? 'typed'
    this.#kind = undefined
    this.#reason = undefined
    return cause
  }

  /** Returns the cause of a same-document navigation. */
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

/** Returns the cause for a new tab requested by this one; `undefined` if the request was for this tab. */
export function causeElsewhere({ reason, disposition }: Requested): string | undefined {
  return disposition === 'currentTab' || disposition === 'download' ? undefined : (reasons[reason] ?? 'link')
}
