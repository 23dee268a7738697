import type { Tool } from '../tool/tool.ts'
import { isStopWord } from './language/stopwords.ts'
import { relatedWords } from './language/synonyms.ts'
import { eachWord } from './language/tokenizer.ts'

// A host reads the hint of every tool when it searches, so each stays small: about 30 tokens.
const maxWords = 20

/**
 * Returns synonyms that the name and description of a tool lack, for hosts that search by keyword. `extra` (group and tags) comes
 * first.
 */
export function searchHint({ name, title, description }: Tool, extra: readonly string[]): string {
  const own = new Set(wordsOf(`${name} ${title ?? ''} ${description ?? ''}`))
  const hint = new Set(extra.flatMap(wordsOf).filter((word) => !own.has(word)))
  const related = wordsOf(name).map((word) => relatedWords(word).filter((each) => !own.has(each)))
  // Round-robin, so that a verb with many synonyms leaves room for the noun.
  for (let round = 0; hint.size < maxWords && related.some((words) => round < words.length); round++) {
    for (const words of related) {
      const word = words[round]
      if (word !== undefined && hint.size < maxWords) hint.add(word)
    }
  }
  return [...hint].join(' ')
}

function wordsOf(text: string): readonly string[] {
  const words: string[] = []
  eachWord(text.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/gu, ' '), (word) => {
    const lower = word.toLowerCase()
    if (lower.length > 1 && !isStopWord(lower)) words.push(lower)
  })
  return words
}
