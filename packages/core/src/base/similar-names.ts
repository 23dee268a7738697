import { normalForm } from './normalize.ts'

/** Groups names that are easily confused: they differ only in case, in `-` and `_`, in similar letters, or in invisible ways. */
export function confusableNames(names: Iterable<string>): readonly (readonly string[])[] {
  const byKey = new Map<string, Set<string>>()
  for (const name of names) {
    const key = confusableKey(name)
    const others = byKey.get(key)
    if (others === undefined) byKey.set(key, new Set([name]))
    else others.add(name)
  }
  return [...byKey.values()].filter(({ size }) => size > 1).map((each) => [...each])
}

/** Equal for names that are easily confused. */
export function confusableKey(name: string): string {
  return withoutEnd(isPlain(name) ? name.toLowerCase() : plainForm(name))
    .replaceAll(/[-_]+/gu, '_')
    .replaceAll(/[il1|]/gu, 'l')
    .replaceAll('0', 'o')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
}

/** A name in which every character can be told apart: in quotes, with escapes for characters beyond ASCII. */
export function unambiguous(name: string, limit = 120): string {
  const cut = name.length > limit ? `${name.slice(0, limit)}…` : name
  const escaped = cut.replaceAll(/[^\x20-\x7e…]/gu, (char) => `\\u{${char.codePointAt(0)?.toString(16) ?? '?'}}`)
  return `"${escaped}"`
}

/** The Latin letter that a lower-case letter of another script looks like, or the letter itself. */
export const plainLetter = (letter: string): string => lookalikes.get(letter) ?? letter

const isPlain = (name: string): boolean => /^[\x20-\x7e]*$/u.test(name)

function plainForm(name: string): string {
  let plain = ''
  for (const char of normalForm(name, 'NFKC').replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')) {
    const lower = char.toLowerCase()
    plain += lookalikes.get(char) ?? lookalikes.get(lower) ?? lower
  }
  return normalForm(plain, 'NFKC')
}

/** Removes spaces and dots at the end. A loop, because a pattern would take quadratic time. */
function withoutEnd(name: string): string {
  let end = name.length
  while (end > 0 && /[\s.]/u.test(name[end - 1] as string)) end--
  return name.slice(0, end).trimStart()
}

/**
 * Letters of other scripts that look like Latin ones. Capitals are listed where they resemble another letter than their lower case
 * does.
 */
const lookalikes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    a: 'аαɑ',
    b: 'вьВΒ',
    c: 'сϲ',
    d: 'ԁ',
    e: 'еεє℮',
    f: 'ƒ',
    g: 'ɡց',
    h: 'һнհΗ',
    i: 'іıιɩ',
    j: 'јϳ',
    k: 'кκ',
    l: 'ӏ',
    m: 'мΜ',
    n: 'пηոΝ',
    o: 'оοօσ',
    p: 'рρР',
    q: 'ԛ',
    r: 'г',
    s: 'ѕ',
    t: 'тτ',
    u: 'υսʋ',
    v: 'νѵ',
    w: 'ԝѡω',
    x: 'хχ×',
    y: 'уγүΥ',
    z: 'ᴢΖ',
    '-': '‐‑‒–—−',
    '.': '·•',
  }).flatMap(([plain, others]) => Array.from(others, (other) => [other, plain] as const)),
)
