import { hasDocuments, readDocuments } from '../sets.ts'
import { ownDocuments } from './catalogue.ts'
import { direct } from './direct.ts'
import { type ForeignResult, foreignCatalogues, measureForeign } from './foreign-requests.ts'
import { type Found, find } from './found.ts'
import { indirect } from './indirect.ts'
import { type LanguageResult, languages, measureLanguage } from './language-requests.ts'
import { measureNatural, type NaturalResult } from './natural-requests.ts'
import type { SearchOver } from './search.ts'

/** Results of one variant of the search on our own sets. */
export interface OwnResults {
  readonly variant: string
  readonly indirect: readonly Found[]
  readonly direct: readonly Found[]
  readonly foreign: readonly ForeignResult[]
  readonly languages: readonly LanguageResult[]
  /** Empty without the large catalogue. */
  readonly natural: readonly NaturalResult[]
}

/** Together, the tools of about 2,150 servers. */
const largeCatalogue = ['toucan', 'docker']

/** Measures a variant of the search. `folder` may contain the published catalogues. */
export function measureOwn(variant: string, searchOver: SearchOver, folder: URL): OwnResults {
  const search = searchOver(ownDocuments)
  const isLarge = largeCatalogue.every((name) => hasDocuments(folder, name))
  return {
    variant,
    indirect: find(indirect, search),
    direct: find(direct, search),
    foreign: foreignCatalogues(folder).map((catalogue) => measureForeign(catalogue, searchOver)),
    languages: languages.map((language) => measureLanguage(language, searchOver)),
    natural: isLarge
      ? measureNatural(
          largeCatalogue.flatMap((name) => readDocuments(folder, name)),
          searchOver,
        )
      : [],
  }
}
