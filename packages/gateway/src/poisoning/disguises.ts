/** Minimum number of single letters in a row that count as spelled text. */
const spelled = /(?<![\p{L}\p{N}])\p{L}(?:[\s._*-]{1,5}\p{L}(?![\p{L}\p{N}])){7,400}/gu
// Three single characters in a row: faster, and rare in other texts.
const maySpell = /[\s._*-](?:[^\s._*-][\udc00-\udfff]?[\s._*-]{1,5}){3}/
const rot13Hint = /\brot-?13\b/i
const maxRuns = 50

/** Returns what a disguised text says: letters written one by one, and ROT13 if the text mentions it. */
export function disguisedTexts(text: string): readonly string[] {
  const runs = maySpell.test(text) ? [...text.matchAll(spelled)].slice(0, maxRuns).map(([run]) => joinedLetters(run)) : []
  return text.includes('13') && rot13Hint.test(text) ? [...runs, rot13(text)] : runs
}

/** Joins letters to words. The most frequent separator stands between letters, others between words. */
function joinedLetters(run: string): string {
  const separators = run.match(/[^\p{L}]+/gu) ?? []
  const counts = new Map<string, number>()
  for (const each of separators) counts.set(each, (counts.get(each) ?? 0) + 1)
  const [[inner] = ['']] = [...counts].toSorted(([, a], [, b]) => b - a)
  return run.replaceAll(/[^\p{L}]+/gu, (each) => (each === inner ? '' : ' '))
}

const rot13 = (text: string): string =>
  text.replaceAll(/[a-z]/giu, (letter) => {
    const base = letter <= 'Z' ? 65 : 97
    return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base)
  })
