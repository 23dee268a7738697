import { ToolError } from '@unfold-mcp/server'
import { z } from 'zod'
import { type Plugin, pure } from '../plugin.ts'

const textSchema = z.string().max(100_000)

export const textPlugin: Plugin = {
  name: 'text',
  description: 'Count words, make slugs, compare texts',
  tools(register) {
    register(
      'text_count',
      { description: 'Count characters, words, sentences and lines.', inputSchema: z.object({ text: textSchema }), ...pure },
      ({ text }) => ({
        characters: segments(text, 'grapheme').length,
        words: segments(text, 'word').filter(({ isWordLike }) => isWordLike).length,
        sentences: segments(text, 'sentence').filter(({ segment }) => segment.trim() !== '').length,
        lines: text === '' ? 0 : text.replace(/\n$/u, '').split('\n').length,
      }),
    )

    register(
      'text_slug',
      {
        description: 'Turn a title into a name for an address: lower case, no accents, hyphens.',
        inputSchema: z.object({ title: z.string().max(1_000) }),
        ...pure,
      },
      ({ title }) =>
        title
          .normalize('NFKD')
          .replace(/\p{Mn}/gu, '')
          .toLowerCase()
          .replace(/[^\p{L}\p{N}]+/gu, '-')
          .replace(/^-|-$/gu, ''),
    )

    register(
      'text_diff',
      {
        description:
          'Compare two texts line by line. Lines that only the first has begin with "-", those that only the second has with "+".',
        inputSchema: z.object({ before: textSchema, after: textSchema }),
        ...pure,
      },
      ({ before, after }) => diff(before.split('\n'), after.split('\n')).join('\n'),
    )
  },
}

const segments = (text: string, granularity: 'grapheme' | 'word' | 'sentence') => [
  ...new Intl.Segmenter('en', { granularity }).segment(text),
]

const maxLines = 1_000

/** Returns the shortest diff from `a` to `b`, by their longest common subsequence. */
function diff(a: readonly string[], b: readonly string[]): readonly string[] {
  if (a.length > maxLines || b.length > maxLines)
    throw new ToolError(`Texts are limited to ${maxLines} lines. Pass parts of them.`)
  // common[i][j]: number of common lines of `a` from i and `b` from j.
  const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1))
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0
  for (let i = a.length - 1; i >= 0; i--) {
    const row = common[i] ?? new Uint16Array()
    for (let j = b.length - 1; j >= 0; j--) row[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  }
  const lines: string[] = []
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    if (i < a.length && a[i] === b[j]) {
      lines.push(`  ${a[i++]}`)
      j++
    } else if (j === b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) lines.push(`- ${a[i++]}`)
    else lines.push(`+ ${b[j++]}`)
  }
  return lines
}
