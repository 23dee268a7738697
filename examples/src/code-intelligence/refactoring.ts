import { z } from 'zod'
import { type FunctionFound, functionsOf } from './functions.ts'
import type { Source } from './source.ts'

export const limitsSchema = z.object({
  lines: z.int().min(5).default(40).describe('The longest a function should be'),
  nesting: z.int().min(1).default(3),
  complexity: z.int().min(2).default(10),
  parameters: z.int().min(1).default(4),
})

export const refactoringSchema = z.object({
  suggestions: z.array(
    z.object({
      kind: z.enum(['long function', 'deep nesting', 'complex function', 'many parameters', 'duplicate block', 'magic number']),
      line: z.int(),
      endLine: z.int(),
      message: z.string(),
    }),
  ),
})

type Limits = z.infer<typeof limitsSchema>
type Suggestion = z.infer<typeof refactoringSchema>['suggestions'][number]

/** Returns suggestions in line order. */
export function refactor(source: Source, limits: Limits): readonly Suggestion[] {
  const shapes = functionsOf(source).flatMap((found) => shapeSuggestions(found, limits))
  return [...shapes, ...duplicates(source), ...magicNumbers(source)].sort((a, b) => a.line - b.line)
}

function shapeSuggestions({ name, line, endLine, nesting, complexity, parameters }: FunctionFound, limits: Limits): Suggestion[] {
  const length = endLine - line + 1
  const at = { line, endLine }
  const made: Suggestion[] = []
  if (length > limits.lines) {
    made.push({
      ...at,
      kind: 'long function',
      message: `${name} has ${length} lines. Move its steps into functions of their own.`,
    })
  }
  if (nesting > limits.nesting) {
    const message = `${name} nests ${nesting} blocks deep. Return early, or move the inner blocks out.`
    made.push({ ...at, kind: 'deep nesting', message })
  }
  if (complexity > limits.complexity) {
    const message = `${name} branches ${complexity - 1} times. Split it by case, or put the cases into a table.`
    made.push({ ...at, kind: 'complex function', message })
  }
  if (parameters.length > limits.parameters) {
    const message = `${name} takes ${parameters.length} parameters. Take one object with named members.`
    made.push({ ...at, kind: 'many parameters', message })
  }
  return made
}

const blockLines = 5

/** Finds repeated blocks of at least five lines, ignoring blank lines and indentation. */
function duplicates({ code }: Source): Suggestion[] {
  const lines = code
    .split('\n')
    .map((text, index) => ({ line: index + 1, text: text.replace(/\s+/gu, ' ').trim() }))
    .filter(({ text }) => /\w/u.test(text) && !/^(?:import|from)\b/u.test(text))
  const seen = new Map<string, number>()
  const made: Suggestion[] = []
  for (let at = 0; at + blockLines <= lines.length; at++) {
    const key = lines
      .slice(at, at + blockLines)
      .map(({ text }) => text)
      .join('\n')
    const first = seen.get(key)
    if (first === undefined || first + blockLines > at) {
      if (first === undefined) seen.set(key, at)
      continue
    }
    let length = blockLines
    while (first + length < at && at + length < lines.length && lines[first + length]?.text === lines[at + length]?.text) length++
    const lineOf = (index: number): number => lines[index]?.line ?? 0
    const message = `Lines ${lineOf(at)} to ${lineOf(at + length - 1)} repeat lines ${lineOf(first)} to ${lineOf(first + length - 1)}. Make them one function.`
    made.push({ kind: 'duplicate block', line: lineOf(at), endLine: lineOf(at + length - 1), message })
    at += length - 1
  }
  return made
}

const plain = new Set(['0', '1', '2', '10', '100'])

/** Finds numbers in expressions. A number right after a name, as in `limit = 40` or `limit: 40`, is already named. */
function magicNumbers({ bare, lineAt }: Source): Suggestion[] {
  const places = new Map<string, number[]>()
  for (const match of bare.matchAll(/(?<![\w$.])\d[\d_]*(?:\.\d+)?(?![\w$.])/gu)) {
    const [number] = match
    if (plain.has(number) || /[\w$\])]\s*[:=]\s*-?$/u.test(bare.slice(Math.max(0, match.index - 60), match.index))) continue
    places.set(number, [...(places.get(number) ?? []), lineAt(match.index)])
  }
  return [...places].map(([number, lines]) => {
    const [line = 0] = lines
    const message = `${number} has no name (${lines.length === 1 ? 'once' : `${lines.length} times: lines ${lines.slice(0, 10).join(', ')}`}). Make it a constant.`
    return { kind: 'magic number', line, endLine: line, message }
  })
}
