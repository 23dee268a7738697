/** Articles and prepositions of other languages that English texts use in names, and that mean nothing in a request: "Rio de Janeiro". */
const foreign: ReadonlySet<string> = new Set(
  'el la los las de del en un una que como esta al se os da na nas ao le les du au et pour ma der von im di il'.split(' '),
)

/** True for a lower-case word that does not count in a request. */
export const isForeignWord = (word: string): boolean => foreign.has(word)
