import type { SearchDocument } from './document.ts'
import { type Action, actionOf } from './language/actions.ts'
import { eachWord, fold, termsOf } from './language/tokenizer.ts'
import type { ParsedQuery } from './query.ts'

/** Factor for a tool that does what the request asks for, and for one that does something else. */
const agreement = 1.1
const conflict = 0.9
const maxTextLength = 200

/** Words of requests that ask for destruction without one of its verbs. */
const destructiveHints = new Set(
  'rid trash kill stop end leav quit undo block ban off anymor longer unwant clean cleanup empti reset expir away retir close decommiss scrap forget deactiv unlink detach shut'.split(
    ' ',
  ),
)

/** Actions that a request asks for. */
export interface AskedActions {
  readonly actions: ReadonlySet<Action>
  /** The request asks to destroy something. */
  readonly isDestructive: boolean
}

export function askedActions({ clauses }: ParsedQuery): AskedActions {
  const actions = new Set<Action>()
  let isHinted = false
  for (const { term } of clauses.flat()) {
    const action = actionOf(term)
    if (action !== undefined) actions.add(action)
    isHinted ||= destructiveHints.has(term)
  }
  return { actions, isDestructive: isHinted || actions.has('delete') }
}

/** Action of a tool: the first verb of its name, otherwise the first word of its description. */
export function actionOfTool({ name, description = '' }: SearchDocument): Action | undefined {
  for (const term of termsIn(name)) {
    const action = actionOf(term)
    if (action !== undefined) return action
  }
  const [first = ''] = termsIn(description)
  return actionOf(first)
}

export function actionFactor({ actions }: AskedActions, action: Action | undefined): number {
  if (actions.size === 0 || action === undefined) return 1
  return actions.has(action) ? agreement : conflict
}

function termsIn(text: string): readonly string[] {
  const terms: string[] = []
  eachWord(fold(text.slice(0, maxTextLength)), (word) => terms.push(...termsOf(word, 'name')))
  return terms
}
