import { ownDocuments } from './catalogue.ts'
import { countsOf, type FoundCounts, find } from './found.ts'
import { chinese } from './languages/chinese.ts'
import { french } from './languages/french.ts'
import { german } from './languages/german.ts'
import type { LanguageSet } from './languages/language-set.ts'
import { portuguese } from './languages/portuguese.ts'
import { spanish } from './languages/spanish.ts'
import type { OwnRequest } from './request.ts'
import type { SearchOver } from './search.ts'

export const languages: readonly LanguageSet[] = [german, french, spanish, portuguese, chinese]

export interface LanguageResult {
  readonly language: string
  /** Requests for tools with a description in the language of the request. */
  readonly translated: FoundCounts
  /** Requests for tools with an English description. */
  readonly english: FoundCounts
}

/** Searches our own catalogue, in which half of the requested tools have a description in the language of the request. */
export function measureLanguage({ language, descriptions, requests }: LanguageSet, searchOver: SearchOver): LanguageResult {
  const search = searchOver(
    ownDocuments.map((document) => {
      const description = descriptions[document.id]
      return description === undefined ? document : { ...document, description }
    }),
  )
  const isTranslated = ({ tools }: OwnRequest): boolean => tools.some((id) => id in descriptions)
  return {
    language,
    translated: countsOf(find(requests.filter(isTranslated), search)),
    english: countsOf(
      find(
        requests.filter((request) => !isTranslated(request)),
        search,
      ),
    ),
  }
}
