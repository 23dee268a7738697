import type { SearchDocument } from '@unfold-mcp/core'

/** Returns `count` documents from `real` ones; beyond their number, copies with other names on other servers. */
export function* manyOf(real: readonly SearchDocument[], count: number): Generator<SearchDocument> {
  const step = Math.max(1, real.length / count)
  for (let i = 0; i < count; i++) {
    const document = real[Math.floor(i * step) % real.length]
    if (document === undefined) return
    const copy = Math.floor(i / real.length)
    const { id, name, server = 'server' } = document
    yield copy === 0
      ? document
      : { ...document, id: `${id}#${copy}`, name: `${name}_v${copy}`, server: `${server}${copy}`, source: `${server}${copy}` }
  }
}

const verbs =
  'get list create update delete search send convert analyze export import schedule track compare render validate'.split(' ')
const things =
  'invoice weather flight hotel ticket repository message image document account payment order customer calendar report contact'.split(
    ' ',
  )
const extras = 'by for the latest daily nearby shared archived public private detailed summary history settings status'.split(' ')

/** Generates documents for machines without the catalogues: less varied, so slower to search and smaller in memory. */
export function generated(count: number): readonly SearchDocument[] {
  const random = randomFrom(1)
  const pick = (words: readonly string[]): string => words[Math.floor(random() * words.length)] ?? ''
  const sentence = (length: number): string =>
    Array.from(
      { length },
      () => `${pick(random() < 0.5 ? things : extras)}${random() < 0.2 ? Math.floor(random() * 5_000).toString(36) : ''}`,
    ).join(' ')
  return Array.from({ length: count }, (_, index) => ({
    id: `tool${index}`,
    source: `server${index % 500}`,
    server: `server${index % 500}`,
    name: `${pick(verbs)}_${pick(things)}_${pick(things)}`,
    description: sentence(20),
    parameters: Array.from({ length: 4 }, () => ({ name: `${pick(things)}_${pick(extras)}`, description: sentence(8) })),
  }))
}

/** Generates queries for the generated documents. */
export function generatedQueries(count: number): readonly string[] {
  const random = randomFrom(2)
  const pick = (words: readonly string[]): string => words[Math.floor(random() * words.length)] ?? ''
  return Array.from(
    { length: count },
    () =>
      `Please ${pick(verbs)} the ${pick(extras)} ${pick(things)} of my ${pick(things)}. Then ${pick(verbs)} a ${pick(things)}.`,
  )
}

/** Seeded random numbers from 0 to 1. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
