import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Where a text occurs: in a definition of a tool, or in a result. */
export type Kind = 'definitions' | 'results'

/** Rules are tuned with one half. The other half and the attacks written after the rules (`fresh`) are only counted. */
export type Half = 'tuning' | 'held-out' | 'fresh'

export interface Sample {
  readonly kind: Kind
  readonly language: string
  readonly half: Half
  readonly text: string
}

// The data files are not compiled, so they are next to the source.
const folder = (name: string): string => fileURLToPath(new URL(`../../src/poisoning/${name}/`, import.meta.url))

/** Depends on the text alone, so a sample never changes its half. */
const halfOf = (text: string): Half => (createHash('sha256').update(text).digest().readUInt8(0) % 2 === 0 ? 'tuning' : 'held-out')

const kinds: Readonly<Record<string, Kind>> = { D: 'definitions', R: 'results' }

/** `\n` and `\u{…}` stand for characters that a text file would not show. */
const unescaped = (text: string): string =>
  text
    .replaceAll('\\n', '\n')
    .replaceAll(/\\u\{([0-9A-Fa-f]+)\}/gu, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))

const linesOf = (name: string): readonly { readonly language: string; readonly line: string }[] =>
  readdirSync(folder(name))
    .filter((file) => file.endsWith('.txt'))
    .toSorted()
    .flatMap((file) =>
      readFileSync(`${folder(name)}${file}`, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => ({ language: file.slice(0, -4), line })),
    )

/** Attacks: one per line, after its kind and style. */
export const attacks = (): readonly Sample[] => [
  ...linesOf('attacks').map(({ language, line }) => attackOf(language, line)),
  ...linesOf('fresh').map(({ language, line }) => ({ ...attackOf(language, line), half: 'fresh' as const })),
]

function attackOf(language: string, line: string): Sample {
  const [, kind = '', text = ''] = /^(\w) \w+ (.*)$/u.exec(line) ?? []
  return { kind: kinds[kind] ?? 'definitions', language, half: halfOf(text), text: unescaped(text) }
}

/** Harmless texts: single lines, descriptions put together from sentences, and results from templates. */
export function harmlessTexts(): readonly Sample[] {
  const lines = linesOf('harmless').map(({ language, line }): Sample => {
    const text = line.slice(2)
    return { kind: kinds[line.charAt(0)] ?? 'definitions', language, half: halfOf(text), text: unescaped(text) }
  })
  const all = [...lines, ...descriptions(), ...results()]
  return [...new Map(all.map((sample) => [sample.text, sample])).values()]
}

const json = (name: string): unknown => JSON.parse(readFileSync(`${folder('harmless')}${name}`, 'utf8'))

/** Halves are made of sentences, so that no sentence of the held-out half was seen while tuning. */
function descriptions(): readonly Sample[] {
  const byLanguage = json('descriptions.json') as Readonly<Record<string, Record<'openings' | 'details', readonly string[]>>>
  return Object.entries(byLanguage).flatMap(([language, { openings, details }]) =>
    (['tuning', 'held-out'] as const).flatMap((half) => {
      const own = details.filter((detail) => halfOf(detail) === half)
      return openings.flatMap((opening) =>
        own.flatMap((detail, at) => {
          const next = own[(at + 1) % own.length] ?? detail
          const texts = next === detail ? [`${opening} ${detail}`] : [`${opening} ${detail}`, `${opening} ${detail} ${next}`]
          return texts.map((text): Sample => ({ kind: 'definitions', language, half, text }))
        }),
      )
    }),
  )
}

function results(): readonly Sample[] {
  const { subjects, formats } = json('results.json') as Record<'subjects' | 'formats', readonly string[]>
  return formats.flatMap((format) =>
    subjects.map((subject): Sample => {
      const text = format.replaceAll('{s}', subject)
      return { kind: 'results', language: 'en', half: halfOf(format), text }
    }),
  )
}
