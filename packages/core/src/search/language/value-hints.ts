import { stem } from './stemmer.ts'

/** Returns terms implied by values in a query: a path implies files, a calculation implies a calculator. */
export function valueHints(text: string): readonly string[] {
  if (!sign.test(text)) return []
  const found = new Set<string>()
  for (const [shape, hints] of shapes) if (shape.test(text)) for (const hint of hints) found.add(hint)
  for (const [, extension] of text.matchAll(/[\p{L}\p{N}]\.([a-z0-9]{1,5})\b/gu)) {
    if (extension === undefined || !extensions.has(extension)) continue
    found.add('file')
    found.add(extension)
  }
  return [...found].map(stem)
}

/** What each shape has, so that most texts are not compared with all of them. */
const sign = /[./\\@$€£¥%+*×÷]|\d (?:percent|plus|minus|times|divided) |\b[Ww]ho\b/u

/** A host without a scheme: its parts say nothing about the request. */
export const domainName =
  /(?<![\p{L}\p{N}@.-])[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){0,4}\.(?:com|org|net|io|dev|app|ai|edu|gov)\b/u

const shapes: readonly (readonly [RegExp, readonly string[]])[] = [
  [/https?:\/\/|www\./i, ['url', 'web', 'website']],
  [domainName, ['url', 'web', 'website']],
  [/\d ?(?:%|percent) of \d|\d ?(?:[+*×÷/]|plus|minus|times|divided by) ?\d/, ['calculate', 'calculator', 'math', 'arithmetic']],
  [/\b[Ww]ho(?:'s|’s| is| was| are| were) \p{Lu}\p{Ll}/u, ['encyclopedia', 'wikipedia', 'biography']],
  [/[\p{L}\p{N}]@[\p{L}\p{N}-]+\.\p{L}/u, ['email']],
  [/(?:^|[\s"'(])(?:~|\.{0,2})\/[\w.-]+\/|\b[A-Z]:\\/, ['file', 'path']],
  [/[$€£¥]\s?\d/, ['price', 'money']],
  [/\b\d{1,3}(?:\.\d{1,3}){3}\b/, ['ip']],
]

const extensions: ReadonlySet<string> = new Set(
  'pdf doc docx xls xlsx csv ppt pptx md txt json yaml xml html png jpg jpeg gif svg mp3 wav mp4 mov zip tar gz py js ts sh sql'.split(
    ' ',
  ),
)
