import { stem } from './stemmer.ts'

/** What a tool does to its object, or what a request asks for. */
export type Action = 'read' | 'create' | 'change' | 'delete' | 'send'

/** Verbs only: nouns such as "order", "book" or "message" say nothing about the action. */
const verbs: { readonly [A in Action]: string } = {
  read: 'get list find search show read fetch view lookup check query describe retrieve browse inspect count display see export download summarize analyze compare',
  create: 'create add insert generate make build register compose',
  change: 'update edit modify rename move change set adjust replace assign enable disable mark toggle merge reopen',
  delete: 'delete remove erase destroy purge drop discard uninstall wipe clear unsubscribe revoke cancel terminate',
  send: 'send publish notify reply forward submit deliver tweet',
}

let table: ReadonlyMap<string, Action> | undefined

/** Action of a stemmed word, if it is a verb. */
export function actionOf(term: string): Action | undefined {
  table ??= new Map(
    Object.entries(verbs).flatMap(([action, words]) => words.split(' ').map((word) => [stem(word), action as Action] as const)),
  )
  return table.get(term)
}

/** Verbs that say little about a request, besides those of the actions. */
const generalVerbs = new Set(
  'put look go take come keep feel live start run open happen say talk work'.split(' ').map((word) => stem(word)),
)

/** True for a stemmed verb that many requests have in common. */
export const isGeneralVerb = (term: string): boolean => generalVerbs.has(term) || actionOf(term) !== undefined
