import type { Toolbox } from '@unfold-mcp/server'
import { z } from 'zod'
import type { Shelf } from './shelves.ts'

const wordsIn = (text: string): readonly string[] =>
  text
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .match(/[\p{L}\p{N}]+/gu)
    ?.map((word) => word.toLowerCase()) ?? []
const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
const lines = (text: string): readonly string[] => text.split(/\r?\n/u)
const graphemes = (text: string): readonly string[] => [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment)
const all = (text: string, pattern: RegExp): readonly string[] => [...new Set(text.match(pattern) ?? [])]

const changes: { readonly [name: string]: readonly [description: string, work: (text: string) => string] } = {
  to_camel_case: [
    'Write words in camelCase.',
    (text) =>
      wordsIn(text)
        .map((word, index) => (index === 0 ? word : capital(word)))
        .join(''),
  ],
  to_pascal_case: ['Write words in PascalCase.', (text) => wordsIn(text).map(capital).join('')],
  to_snake_case: ['Write words in snake_case.', (text) => wordsIn(text).join('_')],
  to_kebab_case: ['Write words in kebab-case, as for a slug.', (text) => wordsIn(text).join('-')],
  to_constant_case: ['Write words in CONSTANT_CASE.', (text) => wordsIn(text).join('_').toUpperCase()],
  to_upper_case: ['Write text in capitals (upper case).', (text) => text.toUpperCase()],
  to_lower_case: ['Write text in small letters (lower case).', (text) => text.toLowerCase()],
  to_title_case: [
    'Begin each word with a capital (title case).',
    (text) => text.replaceAll(/\p{L}+/gu, (word) => capital(word.toLowerCase())),
  ],
  swap_case: [
    'Swap capitals and small letters.',
    (text) =>
      graphemes(text)
        .map((each) => (each === each.toUpperCase() ? each.toLowerCase() : each.toUpperCase()))
        .join(''),
  ],
  reverse_text: ['Reverse text, character by character.', (text) => graphemes(text).toReversed().join('')],
  reverse_words: ['Reverse the order of words.', (text) => text.split(/\s+/u).toReversed().join(' ')],
  reverse_lines: ['Reverse the order of lines.', (text) => lines(text).toReversed().join('\n')],
  sort_lines: [
    'Sort lines by the alphabet.',
    (text) =>
      lines(text)
        .toSorted((a, b) => a.localeCompare(b, 'en'))
        .join('\n'),
  ],
  unique_lines: ['Remove lines that occur again (duplicates).', (text) => [...new Set(lines(text))].join('\n')],
  number_lines: [
    'Put a number before each line.',
    (text) =>
      lines(text)
        .map((line, index) => `${index + 1}. ${line}`)
        .join('\n'),
  ],
  join_lines: [
    'Join lines to one.',
    (text) =>
      lines(text)
        .map((line) => line.trim())
        .filter(Boolean)
        .join(' '),
  ],
  trim_lines: [
    'Remove spaces at the beginning and end of each line.',
    (text) =>
      lines(text)
        .map((line) => line.trim())
        .join('\n'),
  ],
  squeeze_spaces: ['Replace runs of spaces by one space.', (text) => text.replaceAll(/[ \t]+/gu, ' ').trim()],
  remove_empty_lines: [
    'Remove empty lines.',
    (text) =>
      lines(text)
        .filter((line) => line.trim() !== '')
        .join('\n'),
  ],
  remove_accents: ['Remove accents from letters.', (text) => text.normalize('NFD').replaceAll(/\p{M}/gu, '')],
  remove_punctuation: ['Remove punctuation.', (text) => text.replaceAll(/\p{P}/gu, '')],
  remove_digits: ['Remove digits.', (text) => text.replaceAll(/\p{Nd}/gu, '')],
  initials: [
    'The initials of a name.',
    (text) => (text.match(/\p{L}+/gu) ?? []).map((word) => word.charAt(0).toUpperCase()).join(''),
  ],
}

const counts: { readonly [name: string]: readonly [description: string, work: (text: string) => number] } = {
  count_characters: ['Count characters as people see them.', (text) => graphemes(text).length],
  count_words: ['Count words.', (text) => (text.match(/[\p{L}\p{N}][\p{L}\p{N}'’-]*/gu) ?? []).length],
  count_lines: ['Count lines.', (text) => lines(text).length],
  count_sentences: [
    'Count sentences.',
    (text) => (text.match(/[^.!?…]+[.!?…]+|[^.!?…]+$/gu) ?? []).filter((each) => each.trim() !== '').length,
  ],
  count_vowels: ['Count vowels.', (text) => (text.match(/[aeiou]/giu) ?? []).length],
  count_bytes: ['Count the bytes of text in UTF-8.', (text) => Buffer.byteLength(text, 'utf8')],
}

const finds: { readonly [name: string]: readonly [description: string, pattern: RegExp] } = {
  extract_numbers: ['Find the numbers in text.', /-?\d+(?:\.\d+)?/gu],
  extract_email_addresses: ['Find the e-mail addresses in text.', /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/gu],
  extract_links: ['Find the links (URLs) in text.', /https?:\/\/[^\s<>"')]+/gu],
  extract_hashtags: ['Find the hashtags in text.', /#[\p{L}\p{N}_]+/gu],
  extract_dates: ['Find dates written as 2026-07-28 in text.', /\b\d{4}-\d{2}-\d{2}\b/gu],
}

export function addText(workshop: Toolbox<Shelf>): void {
  const shelf = { group: 'text', readOnly: true } as const
  const content = z.string().max(100_000)
  const inputSchema = z.object({ text: content })
  for (const [name, [description, work]] of Object.entries(changes))
    workshop.tool(name, { ...shelf, description, inputSchema }, ({ text }) => work(text))
  for (const [name, [description, work]] of Object.entries(counts)) {
    workshop.tool(name, { ...shelf, description, inputSchema }, ({ text }) => ({ count: work(text) }))
  }
  for (const [name, [description, pattern]] of Object.entries(finds)) {
    workshop.tool(name, { ...shelf, description, inputSchema }, ({ text }) => ({ found: all(text, pattern) }))
  }

  workshop.tool(
    'replace_text',
    {
      ...shelf,
      description: 'Replace every occurrence of one text by another.',
      inputSchema: z.object({ text: content, find: z.string().min(1), replacement: z.string() }),
    },
    ({ text, find, replacement }) => text.split(find).join(replacement),
  )
  workshop.tool(
    'wrap_text',
    {
      ...shelf,
      description: 'Wrap text to lines of a width.',
      inputSchema: z.object({ text: content, width: z.int().min(10).max(500).default(80) }),
    },
    ({ text, width }) => wrapped(text, width),
  )
  workshop.tool(
    'is_palindrome',
    { ...shelf, description: 'Say whether text reads the same backwards.', inputSchema },
    ({ text }) => {
      const letters = (text.toLowerCase().match(/[\p{L}\p{N}]/gu) ?? []).join('')
      return { palindrome: letters === Array.from(letters).toReversed().join('') }
    },
  )
  workshop.tool(
    'are_anagrams',
    {
      ...shelf,
      description: 'Say whether two texts have the same letters.',
      inputSchema: z.object({ one: content, other: content }),
    },
    ({ one, other }) => ({
      anagrams: lettersOf(one) === lettersOf(other),
    }),
  )
  workshop.tool(
    'edit_distance',
    {
      ...shelf,
      description: 'How many letters must change to make one word another.',
      inputSchema: z.object({ one: z.string().max(200), other: z.string().max(200) }),
    },
    ({ one, other }) => ({
      distance: distance(graphemes(one), graphemes(other)),
    }),
  )
  workshop.tool(
    'word_frequencies',
    {
      ...shelf,
      description: 'How often each word occurs, most frequent first.',
      inputSchema: z.object({ text: content, limit: z.int().min(1).max(1_000).default(20) }),
    },
    ({ text, limit }) => {
      const counted = new Map<string, number>()
      for (const word of wordsIn(text)) counted.set(word, (counted.get(word) ?? 0) + 1)
      const ordered = [...counted].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
      return { words: ordered.slice(0, limit).map(([word, count]) => ({ word, count })) }
    },
  )
}

const lettersOf = (text: string): string => (text.toLowerCase().match(/\p{L}/gu) ?? []).toSorted().join('')

function wrapped(text: string, width: number): string {
  const made: string[] = []
  let line = ''
  for (const word of text.split(/\s+/u).filter(Boolean)) {
    if (line !== '' && line.length + 1 + word.length > width) {
      made.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...made, line].join('\n')
}

function distance(one: readonly string[], other: readonly string[]): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [i, letter] of one.entries()) {
    const next = [i + 1]
    for (const [j, against] of other.entries()) {
      const changed = (row[j] ?? 0) + (letter === against ? 0 : 1)
      next.push(Math.min(changed, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
