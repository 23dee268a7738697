import { ownName, type SearchDocument } from '../document.ts'
import { type Action, actionOf } from '../language/actions.ts'
import { eachWord, fold, termsOf } from '../language/tokenizer.ts'
import type { ParsedQuery } from '../query.ts'

/** Factor for a tool that does something else than the request asks for: "delete" instead of "list". */
const conflict = 0.9
const maxTextLength = 200

/** Words of requests that ask for destruction without one of its verbs. */
const destructiveHints = new Set(
  'rid trash kill stop end leav quit undo block ban anymor longer unwant clean cleanup empti reset expir away retir close decommiss scrap forget deactiv unlink detach shut'.split(
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

/** Action of a tool: the first verb of its name. `read` returns the terms of a word. */
export function actionOfTool(document: SearchDocument, read: typeof termsOf = termsOf): Action | undefined {
  let found: Action | undefined
  eachWord(fold(ownName(document).slice(0, maxTextLength)), (word) => {
    for (const term of read(word, 'name')) found ??= actionOf(term)
    return found === undefined
  })
  return found
}

export function actionFactor({ actions }: AskedActions, action: Action | undefined): number {
  return actions.size === 0 || action === undefined || actions.has(action) ? 1 : conflict
}
