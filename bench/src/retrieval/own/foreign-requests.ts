import type { SearchDocument } from '@unfold-mcp/core'
import { hasDocuments, readDocuments } from '../sets.ts'
import { documentsOf, groups, ownDocuments } from './catalogue.ts'
import { type Confidences, type CurvePoint, curveOf, sharesOf } from './confidences.ts'
import { direct } from './direct.ts'
import { type ForeignDomain, foreign, knowledge } from './foreign.ts'
import { indirect } from './indirect.ts'
import type { OwnRequest } from './request.ts'
import type { SearchOver } from './search.ts'

/** A catalogue that has no tool for some requests. */
export interface ForeignCatalogue {
  readonly name: string
  readonly documents: readonly SearchDocument[]
  /** Domains of foreign requests that some tool serves. */
  readonly covers: readonly ForeignDomain[]
}

/**
 * Domains of the published catalogues, decided by reading their tools. Sets with a web search cover every question. The sets with
 * thousands of tools are absent: nobody can tell what they do not cover.
 */
const coverage: { readonly [set: string]: readonly ForeignDomain[] } = {
  toolalpaca: ['astronomy', 'chemistry', 'gardening', 'history', 'language', 'mathematics', 'medicine', 'sports', 'trading'],
  metatool: [...knowledge, 'library', 'school', 'telephony', 'trading', 'vehicles', 'video'],
  livemcp: [...knowledge, 'library', 'trading', 'video'],
  docker: ['trading'],
}

/** Returns our own catalogues, and the published ones in the folder. */
export function foreignCatalogues(folder: URL): readonly ForeignCatalogue[] {
  const parts = Object.entries(groups).map(([name, servers]) => ({ name, documents: documentsOf(servers), covers: [] }))
  const all = { name: 'all own tools', documents: ownDocuments, covers: [] }
  const published = Object.entries(coverage)
    .filter(([name]) => hasDocuments(folder, name))
    .map(([name, covers]) => ({ name, documents: readDocuments(folder, name), covers }))
  return [...parts, all, ...published]
}

/** Confidence for requests with and without a tool in the catalogue. */
export interface ForeignResult {
  readonly catalogue: string
  readonly foreign: Confidences
  /** Requests for the tools of our other catalogues; absent if there are none. */
  readonly others?: Confidences
  /** Requests for tools of this catalogue; absent if there are none. */
  readonly direct?: Confidences
  readonly indirect?: Confidences
  /** Shares of answered requests by threshold; empty if the search exposes no number. */
  readonly curve: readonly CurvePoint[]
}

export function measureForeign({ name, documents, covers }: ForeignCatalogue, searchOver: SearchOver): ForeignResult {
  const search = searchOver(documents)
  const ids = new Set(documents.map(({ id }) => id))
  const answersTo = (queries: readonly string[]) => queries.map((query) => search(query, 5))
  const isServed = ({ tools }: OwnRequest): boolean => tools.some((id) => ids.has(id))
  const servedBy = (requests: readonly OwnRequest[]) => answersTo(requests.filter(isServed).map(({ query }) => query))
  const isOwn = direct.some(isServed)
  const unserved = isOwn ? [...direct, ...indirect].filter((request) => !isServed(request)) : []
  const answers = {
    foreign: answersTo(foreignTo(covers)),
    others: answersTo(unserved.map(({ query }) => query)),
    direct: servedBy(direct),
    indirect: servedBy(indirect),
  }
  return {
    catalogue: name,
    foreign: sharesOf(answers.foreign),
    ...(answers.others.length > 0 && { others: sharesOf(answers.others) }),
    ...(isOwn && { direct: sharesOf(answers.direct), indirect: sharesOf(answers.indirect) }),
    curve: curveOf(answers),
  }
}

/** Returns the requests of all domains that the catalogue does not cover. */
export function foreignTo(covers: readonly ForeignDomain[]): readonly string[] {
  const domains = Object.keys(foreign) as readonly ForeignDomain[]
  return domains.filter((domain) => !covers.includes(domain)).flatMap((domain) => foreign[domain])
}
