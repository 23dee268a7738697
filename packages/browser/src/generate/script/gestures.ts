import type { UserAction } from '../../records/records.ts'

// One gesture can cause several simultaneous events: a click on a label also clicks its field, Enter also clicks the button.
const echoMs = 25
const submittedWithinMs = 5_000

/** Removes events that the browser derives from a gesture: repeating the gesture causes them again. */
export function gestures(actions: readonly UserAction[]): readonly UserAction[] {
  return withoutEchoes(inOrder(actions))
}

/** Moves actions before the navigation that delayed their report. */
function inOrder(actions: readonly UserAction[]): readonly UserAction[] {
  const ordered: UserAction[] = []
  const left = new Map<string, { readonly from: string | undefined; readonly to: UserAction }>()
  for (const action of actions) {
    const last = left.get(action.tab)
    if (action.action === 'navigation') left.set(action.tab, { from: last?.to.url, to: action })
    else if (last !== undefined && last.to.url !== action.url && isFrom(action, last) && action.at <= last.to.at) {
      ordered.splice(ordered.lastIndexOf(last.to), 0, action)
      continue
    }
    ordered.push(action)
  }
  return ordered
}

/** True if an action can be from the page that was left. The first URL of a tab is not recorded without a navigation. */
function isFrom({ url, pageUrl }: UserAction, { from }: { readonly from: string | undefined }): boolean {
  return from === undefined || from === url || from === pageUrl
}

function withoutEchoes(actions: readonly UserAction[]): readonly UserAction[] {
  const last = new Map<string, UserAction>()
  const kept: UserAction[] = []
  for (const action of actions) {
    const before = last.get(action.tab)
    if (before !== undefined && isEcho(action, before)) continue
    // A click that changes a checkbox or list is covered by the change.
    if (before?.action === 'click' && isChange(action) && isOnSame(action, before)) kept.splice(kept.lastIndexOf(before), 1)
    last.set(action.tab, action)
    kept.push(action)
  }
  return kept
}

function isEcho(action: UserAction, before: UserAction): boolean {
  const ms = action.at - before.at
  if (action.action === 'submit') return (before.action === 'click' || before.action === 'key') && ms <= submittedWithinMs
  if (action.action !== 'click' || ms > echoMs) return false
  return before.action === 'key' || (before.action === 'click' && !isOnSame(action, before))
}

function isChange({ action }: UserAction): boolean {
  return action === 'check' || action === 'select'
}

function isOnSame(a: UserAction, b: UserAction): boolean {
  return a.selectors?.css === b.selectors?.css && a.selectors?.xpath === b.selectors?.xpath
}
