import type { Confidence, SearchDocument } from '@unfold-mcp/core'
import { type NaturalRequest, natural, type ToolPattern } from './natural.ts'
import type { SearchOver } from './search.ts'

/** Result of one natural request. */
export interface NaturalResult {
  readonly query: string
  /** The catalogue has a useful tool. */
  readonly isServed: boolean
  /** A useful tool is among the first five. */
  readonly isUseful: boolean
  readonly confidence: Confidence
  /** The first match, if any: server and name. */
  readonly first?: string
}

export interface NaturalCounts {
  readonly requests: number
  /** Requests with a useful tool among the first five, or without any useful tool and without a claim to have one. */
  readonly good: number
  /** Requests with a useful tool in the catalogue. */
  readonly served: number
  readonly useful: number
  /** Strong answers without a useful tool among the first five. */
  readonly uselessStrong: number
}

/** Searches the large catalogue; `documents` are all its tools. */
export function measureNatural(
  documents: readonly SearchDocument[],
  searchOver: SearchOver,
  requests: readonly NaturalRequest[] = natural,
): readonly NaturalResult[] {
  const search = searchOver(documents)
  const known = new Map(documents.map((document) => [document.id, document]))
  return requests.map(({ query, useful }) => {
    const { ids, confidence } = search(query, 5)
    const found = ids.slice(0, 5).flatMap((id) => known.get(id) ?? [])
    const [first] = found
    return {
      query,
      isServed: useful !== 'nothing',
      isUseful: useful !== 'nothing' && found.some((tool) => useful.some((pattern) => matches(pattern, tool))),
      confidence,
      ...(first !== undefined && { first: `${first.server ?? ''}/${first.name}` }),
    }
  })
}

export function matches({ name, text, not }: ToolPattern, tool: SearchDocument): boolean {
  const { server = '', description = '' } = tool
  if (name?.test(tool.name) === false) return false
  if (text?.test(`${tool.name}\n${description}\n${server}`) === false) return false
  return not === undefined || !not.test(`${tool.name}\n${server}`)
}

export function naturalCountsOf(results: readonly NaturalResult[]): NaturalCounts {
  const count = (matching: (result: NaturalResult) => boolean): number => results.filter(matching).length
  return {
    requests: results.length,
    good: count(({ isServed, isUseful, confidence }) => (isServed ? isUseful : confidence === 'none')),
    served: count(({ isServed }) => isServed),
    useful: count(({ isUseful }) => isUseful),
    uselessStrong: count(({ isUseful, confidence }) => !isUseful && confidence === 'strong'),
  }
}
