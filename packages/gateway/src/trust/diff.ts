import { canonicalJson, isRecord, metaKeys } from '@unfold-mcp/core'

/** A run of words that is in both texts, only in the old one, or only in the new one. */
export interface TextPiece {
  readonly kind: 'same' | 'removed' | 'added'
  readonly text: string
}

/** One difference between two definitions. */
export interface Difference {
  /** JSON path, such as `inputSchema.properties.path.type`. */
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
  /** For two texts. */
  readonly words?: readonly TextPiece[]
}

// Comparing takes time proportional to the product of the two lengths.
const maxWords = 2_000
const maxDifferences = 500

/** Compares two definitions by path. Texts are compared word by word. */
export function diffDefinitions(before: object | undefined, after: object): readonly Difference[] {
  const differences: Difference[] = []
  compare(withCode(before ?? {}), withCode(after), '', differences)
  return differences.slice(0, maxDifferences)
}

/** The code of a stored script as a text of its own, which is compared and shown line by line. */
function withCode(definition: object): object {
  const { _meta, ...rest } = definition as { readonly _meta?: unknown }
  if (!isRecord(_meta) || _meta[metaKeys.code] === undefined) return definition
  const { [metaKeys.code]: code, ...meta } = _meta
  return { ...rest, ...(Object.keys(meta).length > 0 && { _meta: meta }), code }
}

function compare(before: unknown, after: unknown, path: string, differences: Difference[]): void {
  if (differences.length >= maxDifferences) return
  if (isRecord(before) && isRecord(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
      compare(before[key], after[key], path === '' ? key : `${path}.${key}`, differences)
  } else if (canonicalOf(before) !== canonicalOf(after)) {
    const isText = typeof before === 'string' && typeof after === 'string'
    differences.push({
      path,
      ...(before !== undefined && { before }),
      ...(after !== undefined && { after }),
      ...(isText && { words: diffWords(before, after) }),
    })
  }
}

const canonicalOf = (value: unknown): string => (value === undefined ? '' : canonicalJson(value))

/** Longest common subsequence of words and the white space between them. */
export function diffWords(before: string, after: string): readonly TextPiece[] {
  const [old, now] = [wordsOf(before), wordsOf(after)]
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start++
  let end = 0
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++
  const pieces: TextPiece[] = []
  const add = (kind: TextPiece['kind'], words: readonly string[]): void => {
    const text = words.join('')
    const last = pieces.at(-1)
    if (text === '') return
    if (last?.kind === kind) pieces[pieces.length - 1] = { kind, text: last.text + text }
    else pieces.push({ kind, text })
  }
  add('same', old.slice(0, start))
  for (const { kind, text } of middle(old.slice(start, old.length - end), now.slice(start, now.length - end))) add(kind, [text])
  add('same', old.slice(old.length - end))
  return pieces
}

function middle(old: readonly string[], now: readonly string[]): readonly TextPiece[] {
  if (old.length === 0 || now.length === 0 || old.length > maxWords || now.length > maxWords)
    return [
      { kind: 'removed', text: old.join('') },
      { kind: 'added', text: now.join('') },
    ]
  const width = now.length + 1
  // Length of the common subsequence of the rest of both, from each pair of positions.
  const common = new Uint16Array((old.length + 1) * width)
  const at = (i: number, j: number): number => common[i * width + j] ?? 0
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      common[i * width + j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const pieces: TextPiece[] = []
  let [i, j] = [0, 0]
  while (i < old.length || j < now.length) {
    if (i < old.length && old[i] === now[j]) {
      pieces.push({ kind: 'same', text: old[i] ?? '' })
      i++
      j++
    } else if (j >= now.length || (i < old.length && at(i + 1, j) >= at(i, j + 1)))
      pieces.push({ kind: 'removed', text: old[i++] ?? '' })
    else pieces.push({ kind: 'added', text: now[j++] ?? '' })
  }
  return pieces
}

const wordsOf = (text: string): readonly string[] => text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? []
