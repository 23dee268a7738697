import { counted } from '../base/plural.ts'

// Verbs, removed at the beginning or end of a tool name.
const verbs = new Set(
  `activate add analyze append apply approve archive assign attach batch browse build bulk calculate call cancel capture change
  check clear click clone close commit compare complete compute connect convert copy count create cut deactivate delete deploy
  describe detect diff disable disconnect discover do download draft drop duplicate edit enable ensure estimate evaluate execute
  exist exists explain export extract fetch fill filter find fork format generate get give grant handle hover import index init
  insert inspect install invite is join kill launch list load lock login lookup make manage mark merge modify mount move mute
  navigate open parse patch pause perform pin ping play poll post preview print process publish push put query read rebase
  receive refresh register reject release reload remove rename render reopen replace reply reserve reset resize resolve
  restart restore resume retrieve return revert review revoke run save scan schedule search select send set share show sign skip
  sort split start stop store submit subscribe suggest summarize switch sync take test toggle trace track transfer transform
  translate trigger try type unassign undo uninstall unlock unpin unsubscribe update upload upsert use validate verify view wait
  watch write`.split(/\s+/u),
)
// The object of the tool ends before one of these.
const prepositions = new Set([
  'as',
  'at',
  'by',
  'for',
  'from',
  'in',
  'into',
  'of',
  'on',
  'per',
  'to',
  'using',
  'via',
  'with',
  'without',
])
const fillers = new Set([
  ...[
    'a',
    'all',
    'allowed',
    'an',
    'and',
    'any',
    'available',
    'current',
    'existing',
    'its',
    'many',
    'me',
    'multiple',
    'my',
    'new',
  ],
  ...['or', 'own', 'single', 'that', 'the', 'this', 'api', 'mcp', 'tool'],
])

const maxObjects = 4
const maxPhraseLength = 3

/** Describes a group by the objects in the names of its tools, most frequent first: `Notion: pages, comments (24 tools)`. */
export function generateDescription(label: string, toolNames: readonly string[]): string {
  const objects = objectsOf(toolNames, new Set(wordsOf(label)))
  const tools = counted(toolNames.length, 'tool')
  const title = titleOf(label)
  return objects.length === 0 ? `${title} (${tools})` : `${title}: ${objects.join(', ')} (${tools})`
}

function titleOf(label: string): string {
  const words = label.replaceAll(/[_-]+/gu, ' ').trim()
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
}

const wordsOf = (name: string): string[] =>
  name
    .replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase())

interface Candidate {
  readonly key: string
  readonly words: readonly string[]
  count: number
  kind: Kind
}

/** Certainty that a phrase names an object: only verbs, no verb, next to a verb. */
const kinds = ['action', 'name', 'object'] as const
type Kind = (typeof kinds)[number]

function objectsOf(names: readonly string[], labelWords: ReadonlySet<string>): readonly string[] {
  const all = names.map(wordsOf)
  const shared = sharedStart(all, labelWords)
  const found = new Map<string, Candidate>()
  for (const words of all) {
    const phrase = phraseOf(words.slice(shared))
    // A phrase also counts for its prefixes: "block children" is about blocks.
    for (let length = 1; length <= Math.min(phrase.words.length, maxPhraseLength); length++) {
      const part = phrase.words.slice(0, length)
      const key = keyOf(part)
      const known = found.get(key) ?? { key, words: part, count: 0, kind: phrase.kind }
      known.count++
      if (kinds.indexOf(phrase.kind) > kinds.indexOf(known.kind)) known.kind = phrase.kind
      found.set(key, known)
    }
  }
  return choose([...found.values()]).map(({ words, kind }) => (kind === 'object' ? pluralOf(words) : words.join(' ')))
}

/** Returns the length of the common prefix, which names the server rather than the object. */
function sharedStart(all: readonly (readonly string[])[], labelWords: ReadonlySet<string>): number {
  const [first = []] = all
  let shared = 0
  while (shared < first.length - 1) {
    const word = first[shared] ?? ''
    const isShared = all.every((words) => words[shared] === word && words.length > shared + 1)
    if (!isShared || (all.length === 1 && !labelWords.has(word))) break
    shared++
  }
  return shared
}

/** Returns the object in a tool name, or all words if there is none. */
function phraseOf(words: readonly string[]): { readonly words: readonly string[]; readonly kind: Kind } {
  const turn = words.findIndex((word, index) => index > 0 && prepositions.has(word))
  const parts = turn === -1 ? [words] : [words.slice(0, turn), words.slice(turn + 1)]
  for (const part of parts) {
    const kept = withoutVerbs(part.filter((word) => !fillers.has(word) && !/^\d+$/u.test(word)))
    if (kept.length > 0) return { words: kept, kind: words.some((word) => verbs.has(word)) ? 'object' : 'name' }
  }
  return { words, kind: 'action' }
}

/** Removes a leading verb (create_page) or a trailing one (page_create). */
function withoutVerbs(words: readonly string[]): readonly string[] {
  const start = words.findIndex((word) => !verbs.has(word))
  if (start === -1) return []
  const end = start === 0 && verbs.has(words.at(-1) ?? '') ? words.length - 1 : words.length
  return words.slice(start, end)
}

/** Returns the keys of phrases that only occur at the start of a longer one. A server may have ten thousand phrases. */
function coveredKeys(candidates: readonly Candidate[]): ReadonlySet<string> {
  const counts = new Map(candidates.map(({ key, count }) => [key, count]))
  const covered = new Set<string>()
  for (const { key, count } of candidates)
    for (let end = key.lastIndexOf(' '); end > 0; end = key.lastIndexOf(' ', end - 1)) {
      const start = key.slice(0, end)
      if (counts.get(start) === count) covered.add(start)
    }
  return covered
}

/** Returns the most frequent candidates, without those covered by another. */
function choose(candidates: readonly Candidate[]): readonly Candidate[] {
  const extends_ = (a: Candidate, b: Candidate): boolean => a !== b && a.key.startsWith(`${b.key} `)
  // If "pull" only occurs in "pull request", use that.
  const covered = coveredKeys(candidates)
  const telling = candidates.filter(({ key }) => !covered.has(key))
  const picked: Candidate[] = []
  const byRank = (a: Candidate, b: Candidate): number => b.count - a.count || kinds.indexOf(b.kind) - kinds.indexOf(a.kind)
  for (const each of telling.toSorted(byRank)) {
    if (picked.length === maxObjects) break
    if (!picked.some((other) => extends_(each, other))) picked.push(each)
  }
  return picked
}

const keyOf = (words: readonly string[]): string => [...words.slice(0, -1), singularOf(words.at(-1) ?? '')].join(' ')

function singularOf(word: string): string {
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`
  if (/(?:s|x|z|ch|sh)es$/u.test(word)) return word.slice(0, -2)
  return /[^su]s$/u.test(word) && !word.endsWith('is') ? word.slice(0, -1) : word
}

function pluralOf(words: readonly string[]): string {
  const last = singularOf(words.at(-1) ?? '')
  const many = /[^aeiou]y$/u.test(last) ? `${last.slice(0, -1)}ies` : /(?:s|x|z|ch|sh)$/u.test(last) ? `${last}es` : `${last}s`
  const isMass = /(?:info|content|code|data|metadata|history|status|text|weather|time|news)$/u.test(last)
  return [...words.slice(0, -1), isMass ? (words.at(-1) ?? last) : many].join(' ')
}
