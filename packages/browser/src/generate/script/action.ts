import type { Selectors, UserAction } from '../../records/records.ts'
import { truncate } from '../../reply/reply.ts'
import { isRedacted } from './literal.ts'
import { canBeFound, nameOf } from './locator.ts'

/** Action of a step. */
export type ScriptAction =
  | { readonly does: 'open'; readonly url: URL }
  | { readonly does: 'reload' | 'back' | 'forward' }
  | { readonly does: 'click' | 'submit'; readonly on: Selectors }
  | { readonly does: 'fill'; readonly on: Selectors; readonly value: string }
  /** The value is unknown, because it was a secret; secrets are numbered. */
  | { readonly does: 'fill-secret' | 'select-secret'; readonly on: Selectors; readonly secret: number }
  | { readonly does: 'select'; readonly on: Selectors; readonly values: readonly string[] }
  | { readonly does: 'check'; readonly on: Selectors; readonly checked: boolean }
  | { readonly does: 'press'; readonly on: Selectors | undefined; readonly key: string }
  | { readonly does: 'scroll'; readonly on: Selectors | undefined; readonly x: number; readonly y: number }

const maxValue = 2_000
const maxPixels = 10_000_000
const keys = /^(?:Enter|Escape|Tab|Backspace|Delete|Insert|Home|End|PageUp|PageDown|Arrow(?:Up|Down|Left|Right)|F\d{1,2}|Space)$/

/** Converts a recorded action to a repeatable one, or returns why it cannot. `secretOf` numbers the secrets. */
export function toScriptAction(action: UserAction, secretOf: (action: UserAction) => number): ScriptAction | string {
  const { selectors: on } = action
  if (on !== undefined && !canBeFound(on)) return 'nothing finds its element again'
  if (action.action === 'key') return pressOf(action)
  if (action.action === 'scroll') return { does: 'scroll', on, x: whole(action.scroll?.x), y: whole(action.scroll?.y) }
  if (on === undefined) return 'nothing tells which element it was'
  if (action.action === 'click' || action.action === 'submit') return { does: action.action, on }
  if (action.action === 'check') return { does: 'check', on, checked: action.checked ?? true }
  return givenOf(action, on, secretOf)
}

function pressOf({ selectors: on, key = '' }: UserAction): ScriptAction | string {
  const name = key === ' ' ? 'Space' : key
  return keys.test(name) ? { does: 'press', on, key: name } : 'it was a key that cannot be pressed by its name'
}

function givenOf(action: UserAction, on: Selectors, secretOf: (action: UserAction) => number): ScriptAction | string {
  const { value = '' } = action
  const isChoice = action.action === 'select'
  if (action.secret === true || isRedacted(value))
    return { does: isChoice ? 'select-secret' : 'fill-secret', on, secret: secretOf(action) }
  if (value.startsWith('C:\\fakepath\\')) return 'a file was chosen, and which one is not known'
  if (value.length > maxValue) return 'the text is too long'
  // Several selected options are separated by line feeds.
  return isChoice ? { does: 'select', on, values: value.split('\n') } : { does: 'fill', on, value }
}

/** Describes an action. Contains untrusted text of the page. */
export function describeAction(scriptAction: ScriptAction): string {
  switch (scriptAction.does) {
    case 'open':
      return `open ${truncate(scriptAction.url.href, 200)}`
    case 'reload':
      return 'reload the page'
    case 'back':
    case 'forward':
      return `go ${scriptAction.does}`
    case 'fill':
      return `fill in ${nameOf(scriptAction.on)}`
    case 'fill-secret':
      return `fill in ${nameOf(scriptAction.on)} with secret ${scriptAction.secret}`
    case 'select':
      return `choose in ${nameOf(scriptAction.on)}`
    case 'select-secret':
      return `choose in ${nameOf(scriptAction.on)} by secret ${scriptAction.secret}`
    case 'check':
      return `${scriptAction.checked ? 'check' : 'uncheck'} ${nameOf(scriptAction.on)}`
    case 'press':
      return scriptAction.on === undefined
        ? `press ${scriptAction.key}`
        : `press ${scriptAction.key} in ${nameOf(scriptAction.on)}`
    case 'scroll':
      return `scroll to ${scriptAction.x}, ${scriptAction.y}`
    default:
      return `${scriptAction.does} ${nameOf(scriptAction.on)}`
  }
}

function whole(number: number | undefined): number {
  return Number.isFinite(number) ? Math.round(Math.min(Math.max(number ?? 0, -maxPixels), maxPixels)) : 0
}
