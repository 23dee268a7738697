import type { NetworkRequest, PerformanceSnapshot } from '../../records/records.ts'
import { truncate } from '../../reply/reply.ts'
import { isoTime } from '../time.ts'
import { withoutFragment } from '../uri.ts'
import { entryOf } from './har-entry.ts'
import type { Har, HarEntry, HarPage } from './har-format.ts'

export interface HarOptions {
  readonly version: string
  readonly browser?: { readonly name: string; readonly version: string }
  /** Performance snapshots, for page timings. */
  readonly snapshots?: readonly PerformanceSnapshot[]
  /** Maximum length in characters: the largest bodies are dropped first, then the oldest requests. */
  readonly limit?: number
}

const maxCharacters = 20_000_000

/** Converts requests to an HTTP Archive 1.2, in order of their start. */
export function har(requests: readonly NetworkRequest[], options: HarOptions): Har {
  const { version, browser, snapshots = [], limit = maxCharacters } = options
  const sent = requests.toSorted((a, b) => a.startedAt - b.startedAt || a.seq - b.seq)
  const pages = pagesOf(sent)
  const all = sent.map((request) => entryOf(request, pages.get(request)?.id ?? ''))
  const entries = withinLimit(all, limit)
  const used = new Set(entries.map(({ pageref }) => pageref))
  const usedPages = [...new Set(pages.values())].filter(({ id }) => used.has(id))
  const missing = all.length - entries.length
  return {
    log: {
      version: '1.2',
      creator: { name: 'unfold-browser', version },
      ...(browser && { browser }),
      pages: usedPages.map((page) => harPage(page, snapshots)),
      entries,
      ...(missing > 0 && { comment: `The ${missing} oldest requests are omitted: the file would be too long.` }),
    },
  }
}

interface Page {
  readonly id: string
  readonly tab: string
  readonly url: string
  readonly startedAt: number
}

/** Assigns each request to the page that made it or whose document it is. */
function pagesOf(requests: readonly NetworkRequest[]): ReadonlyMap<NetworkRequest, Page> {
  const key = (tab: string, url: string): string => JSON.stringify([tab, withoutFragment(url)])
  const known = new Set(requests.map(({ tab, pageUrl }) => key(tab, pageUrl)))
  const pages = new Map<string, Page>()
  return new Map(
    requests.map((request) => {
      const { tab, type, startedAt } = request
      const url = type === 'document' && known.has(key(tab, request.url)) ? request.url : request.pageUrl
      const page = pages.get(key(tab, url)) ?? { id: `page_${pages.size + 1}`, tab, url: withoutFragment(url), startedAt }
      pages.set(key(tab, url), page)
      return [request, page] as const
    }),
  )
}

function harPage({ id, tab, url, startedAt }: Page, snapshots: readonly PerformanceSnapshot[]): HarPage {
  const own = snapshots.findLast((snapshot) => snapshot.tab === tab && withoutFragment(snapshot.url) === url)
  return {
    startedDateTime: isoTime(startedAt),
    id,
    title: truncate(url, 2_000),
    pageTimings: { onContentLoad: own?.domContentLoaded ?? -1, onLoad: own?.load ?? -1 },
  }
}

/** Drops the largest bodies, then the oldest entries, until they fit. */
function withinLimit(entries: readonly HarEntry[], limit: number): readonly HarEntry[] {
  const weighed = entries.map((entry) => ({ entry, length: JSON.stringify(entry).length + 1 }))
  let total = weighed.reduce((sum, { length }) => sum + length, 0)
  for (const each of weighed.toSorted((a, b) => b.length - a.length)) {
    if (total <= limit) break
    const entry = withoutBodies(each.entry)
    const length = JSON.stringify(entry).length + 1
    // A short body takes no more space than the omission comment.
    if (length >= each.length) continue
    total -= each.length - length
    Object.assign(each, { entry, length })
  }
  let first = 0
  for (; total > limit && first < weighed.length; first++) total -= weighed[first]?.length ?? 0
  return weighed.slice(first).map(({ entry }) => entry)
}

function withoutBodies(entry: HarEntry): HarEntry {
  const comment = 'Omitted: the file would be too long.'
  const { text: _text, encoding: _encoding, ...content } = entry.response.content
  const { postData } = entry.request
  return {
    ...entry,
    request: { ...entry.request, ...(postData && { postData: { mimeType: postData.mimeType, text: '', comment } }) },
    response: { ...entry.response, content: { ...content, comment } },
  }
}
