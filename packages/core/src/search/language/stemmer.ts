/**
 * The stem of an English word in lower case, so that "translations" and "translate" meet: the Snowball English algorithm
 * (Porter 2), after a table of forms it cannot know. Words of other alphabets come back as they are.
 */
export function stem(word: string): string {
  irregular ??= irregularForms()
  const known = irregular.get(word)
  if (known !== undefined) return known
  if (word.length < 3 || !/^[a-z]+$/.test(word)) return word
  return suffixless(word)
}

/** Forms that share a meaning but not a stem, each with the word whose stem they take. */
const families: { readonly [word: string]: string } = {
  analyse:
    'analysis analyses analyze analyzes analyzed analyzing analyzer analyzers analysing analysed analyser analytics analytic analytical',
  advertise: 'advertisement advertisements',
  begin: 'began begun',
  break: 'broke broken',
  bring: 'brought',
  build: 'built',
  buy: 'bought',
  category: 'categorise categorize categorised categorized categorization categorisation',
  catalog: 'catalogue catalogues',
  center: 'centre centres',
  child: 'children',
  choose: 'chose chosen choice choices',
  color: 'colour colours coloured colouring',
  convert: 'conversion conversions',
  create: 'creation creations creator creators',
  datum: 'data',
  decide: 'decision decisions',
  decrypt: 'decryption',
  describe: 'description descriptions descriptive',
  draw: 'drew drawn',
  drive: 'drove driven',
  eat: 'ate eaten',
  edit: 'editor editors',
  encrypt: 'encryption',
  extend: 'extension extensions',
  favorite: 'favourite favourites',
  find: 'found',
  fly: 'flew flown flies',
  forget: 'forgot forgotten',
  get: 'got gotten',
  give: 'gave given',
  go: 'went gone',
  grow: 'grew grown growth',
  hear: 'heard',
  hold: 'held',
  index: 'indices indexes',
  invest: 'investor investors',
  know: 'knew known knowledge',
  lead: 'led',
  learn: 'learnt',
  lose: 'lost loss losses',
  make: 'made',
  man: 'men',
  matrix: 'matrices',
  meet: 'met',
  mouse: 'mice',
  multiply: 'multiplication',
  notify: 'notification notifications',
  pay: 'paid payment payments payable',
  person: 'people persons',
  predict: 'prediction predictions predictive',
  produce: 'production',
  program: 'programme programmes',
  receive: 'reception receipt receipts',
  ride: 'rode ridden',
  run: 'ran',
  say: 'said',
  see: 'saw seen',
  sell: 'sold',
  send: 'sent',
  sing: 'sang sung',
  speak: 'spoke spoken',
  spend: 'spent',
  steal: 'stole stolen',
  subscribe: 'subscription subscriptions',
  substitute: 'substitution',
  subtract: 'subtraction',
  summarize: 'summary summaries summarise summarised summariser',
  swim: 'swam swum',
  take: 'took taken',
  teach: 'taught',
  tell: 'told',
  think: 'thought thoughts',
  transcribe: 'transcript transcripts transcription transcriptions',
  understand: 'understood',
  vertex: 'vertices',
  wear: 'wore worn',
  win: 'won',
  woman: 'women',
  write: 'wrote written',
}

const vowel = /[aeiouy]/
const invariant = new Set([
  'news',
  'howe',
  'atlas',
  'cosmos',
  'bias',
  'andes',
  'sky',
  'inning',
  'outing',
  'canning',
  'proceed',
  'exceed',
  'succeed',
])
const special: ReadonlyMap<string, string> = new Map([
  ['skis', 'ski'],
  ['skies', 'sky'],
  ['dying', 'die'],
  ['lying', 'lie'],
  ['tying', 'tie'],
  ['idly', 'idl'],
  ['gently', 'gentl'],
  ['ugly', 'ugli'],
  ['early', 'earli'],
  ['only', 'onli'],
  ['singly', 'singl'],
])

const secondSteps: readonly (readonly [suffix: string, by: string])[] = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['iveness', 'ive'],
  ['biliti', 'ble'],
  ['lessli', 'less'],
  ['entli', 'ent'],
  ['alism', 'al'],
  ['aliti', 'al'],
  ['ousli', 'ous'],
  ['iviti', 'ive'],
  ['fulli', 'ful'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['abli', 'able'],
  ['izer', 'ize'],
  ['ator', 'ate'],
  ['alli', 'al'],
  ['bli', 'ble'],
]

const thirdSteps: readonly (readonly [suffix: string, by: string])[] = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['alize', 'al'],
  ['icate', 'ic'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ness', ''],
  ['ful', ''],
]

const fourthSteps = [
  'ement',
  'ance',
  'ence',
  'able',
  'ible',
  'ment',
  'ant',
  'ent',
  'ism',
  'ate',
  'iti',
  'ous',
  'ive',
  'ize',
  'al',
  'er',
  'ic',
] as const

function suffixless(given: string): string {
  const kept = special.get(given)
  if (kept !== undefined) return kept
  if (invariant.has(given)) return given
  // A y that starts a syllable is a consonant; written Y it is none of the vowels below.
  let word = american(given).replace(/^y|(?<=[aeiouy])y/g, 'Y')
  const [first, second] = regionsOf(word)
  word = withoutPlural(word)
  word = withoutTense(word, first)
  if (word.length > 2 && /[^aeiouy][yY]$/.test(word)) word = `${word.slice(0, -1)}i`
  word = replaced(word, first, secondSteps)
  if (word.length - 3 >= first && word.endsWith('ogi') && word.at(-4) === 'l') word = word.slice(0, -1)
  else if (word.length - 2 >= first && /[cdeghkmnrt]li$/.test(word)) word = word.slice(0, -2)
  word = replaced(word, first, thirdSteps)
  if (word.length - 5 >= second && word.endsWith('ative')) word = word.slice(0, -5)
  word = withoutFourth(word, second)
  return withoutLast(word, first, second).replaceAll('Y', 'y')
}

/** "Organise" as "organize". Words that are never written with z ("exercise") change alike in all their forms. */
const american = (word: string): string => word.replace(/(?<=^.{4,})is(?=(?:e|es|ed|er|ers|ing|ation|ations)$)/, 'iz')

/** Where the regions begin in which suffixes may be taken away. */
function regionsOf(word: string): readonly [first: number, second: number] {
  const prefix = /^(?:gener|commun|arsen|past|univers|later|emerg|organ)/.exec(word)?.[0].length
  const first = prefix ?? afterSyllable(word, 0)
  return [first, afterSyllable(word, first)]
}

function afterSyllable(word: string, from: number): number {
  const found = /[aeiouy][^aeiouy]/.exec(word.slice(from))
  return found === null ? word.length : from + found.index + 2
}

function withoutPlural(word: string): string {
  if (word.endsWith('sses')) return word.slice(0, -2)
  if (word.endsWith('ied') || word.endsWith('ies')) return word.slice(0, word.length > 4 ? -2 : -1)
  if (word.endsWith('us') || word.endsWith('ss') || !word.endsWith('s')) return word
  return vowel.test(word.slice(0, -2)) ? word.slice(0, -1) : word
}

function withoutTense(word: string, first: number): string {
  const eed = /eed(?:ly)?$/.exec(word)
  if (eed !== null) return eed.index >= first ? word.slice(0, eed.index + 2) : word
  const tense = /(?:ed|ing)(?:ly)?$/.exec(word)
  if (tense === null) return word
  const rest = word.slice(0, tense.index)
  if (!vowel.test(rest)) return word
  if (/(?:at|bl|iz)$/.test(rest)) return `${rest}e`
  if (/(bb|dd|ff|gg|mm|nn|pp|rr|tt)$/.test(rest))
    return /^[aeo](bb|dd|ff|gg|mm|nn|pp|rr|tt)$/.test(rest) ? rest : rest.slice(0, -1)
  return rest.length <= first && isShort(rest) ? `${rest}e` : rest
}

const isShort = (word: string): boolean => /(?:[^aeiouy][aeiouy][^aeiouywxY]|^[aeiouy][^aeiouy])$/.test(word)

function replaced(word: string, from: number, steps: readonly (readonly [suffix: string, by: string])[]): string {
  for (const [suffix, by] of steps) {
    if (!word.endsWith(suffix)) continue
    const start = word.length - suffix.length
    return start >= from ? word.slice(0, start) + by : word
  }
  return word
}

function withoutFourth(word: string, second: number): string {
  for (const suffix of fourthSteps) {
    if (!word.endsWith(suffix)) continue
    const start = word.length - suffix.length
    return start >= second ? word.slice(0, start) : word
  }
  return word.length - 3 >= second && /[st]ion$/.test(word) ? word.slice(0, -3) : word
}

function withoutLast(word: string, first: number, second: number): string {
  const last = word.length - 1
  if (word.endsWith('e') && (last >= second || (last >= first && !isShort(word.slice(0, -1))))) return word.slice(0, -1)
  return word.endsWith('ll') && last >= second ? word.slice(0, -1) : word
}

// Built on first use: every command loads this file, few of them search.
let irregular: ReadonlyMap<string, string> | undefined

const irregularForms = (): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(families).flatMap(([word, forms]) =>
      [word, ...forms.split(' ')].map((form) => [form, suffixless(word)] as const),
    ),
  )
