import type { Page } from 'playwright-core'
import { type FrameInfo, inspectPage, type PageInspection } from '../page/inspection.ts'
import { PageProblem } from '../page/page-problem.ts'
import { quoted } from '../reply/reply.ts'
import { describeDocument, type PageDescription } from './describe.ts'
import { type FoundElement, type Query, queryElements } from './query.ts'

export interface QueryOptions {
  /** CSS, with ` >>> ` to enter a shadow root; or XPath, which begins with `/`, `./`, `(` or `xpath=`. */
  readonly selector: string
  /** Maximum number of elements. Default: 20; maximum: 100. */
  readonly limit?: number
  /** Only these attributes. */
  readonly attributes?: readonly string[]
  /** Some of `readableProperties`, with current values. */
  readonly properties?: readonly string[]
  /** Computed CSS properties. */
  readonly styles?: readonly string[]
  /** Include the beginning of the markup. */
  readonly html?: boolean
  /** Name of a frame, or part of its URL. Default: the page. */
  readonly frame?: string
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** Matches of a selector. */
export interface QueryResult {
  readonly url: string
  /** Total number of matches; the first `limit` are described. */
  readonly total: number
  readonly elements: readonly FoundElement[]
}

export interface DescribeOptions {
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

const defaultElements = 20
const maxElements = 100
const defaultLookMs = 5_000
const accepted = 'Give a CSS selector such as "main h1", or an XPath such as "//h1".'
const maxSelectorLength = 2_000
const maxNames = 20
const maxPageText = 2_000

/** DOM properties that can be read. */
const readableProperties: readonly string[] = [
  'checked',
  'childElementCount',
  'className',
  'clientHeight',
  'clientWidth',
  'complete',
  'currentSrc',
  'currentTime',
  'disabled',
  'duration',
  'hidden',
  'href',
  'indeterminate',
  'isContentEditable',
  'naturalHeight',
  'naturalWidth',
  'open',
  'paused',
  'readOnly',
  'readyState',
  'required',
  'scrollHeight',
  'scrollLeft',
  'scrollTop',
  'scrollWidth',
  'selected',
  'selectedIndex',
  'src',
  'tabIndex',
  'type',
  'validationMessage',
  'value',
]

/** Finds elements in the current page. Values of secret fields are never returned. */
export async function queryDom(page: Page, options: QueryOptions): Promise<QueryResult> {
  const { frame, timeoutMs = defaultLookMs, signal } = options
  const query = checked(options)
  return inspectPage(page, { timeoutMs, ...(signal !== undefined && { signal }) }, async (inspection) => {
    const place = frame === undefined ? undefined : await frameOf(inspection, frame)
    const found = await inspection.run(queryElements, query, place?.id)
    if ('problem' in found) {
      throw new PageProblem('selector', `Invalid selector ${quoted(query.selector, 200)}: ${found.problem} ${accepted}`)
    }
    return found
  })
}

/** Describes a page: its outline, forms and beginning of its text, without field values. */
export async function describePage(page: Page, options: DescribeOptions = {}): Promise<PageDescription> {
  const { timeoutMs = defaultLookMs, signal } = options
  return inspectPage(page, { timeoutMs, ...(signal !== undefined && { signal }) }, (inspection) =>
    inspection.run(describeDocument, { maxTextLength: maxPageText }),
  )
}

function checked({
  selector,
  limit = defaultElements,
  attributes,
  properties = [],
  styles = [],
  html = false,
}: QueryOptions): Query {
  if (selector.trim() === '') throw new PageProblem('selector', `The selector is empty. ${accepted}`)
  if (selector.length > maxSelectorLength)
    throw new PageProblem('selector', `The selector is longer than ${maxSelectorLength} characters.`)
  const unknown = properties.find((name) => !readableProperties.includes(name))
  if (unknown !== undefined)
    throw new PageProblem(
      'option',
      `No property ${quoted(unknown)} is readable. Readable properties: ${readableProperties.join(', ')}.`,
    )
  return {
    selector: selector.trim(),
    limit: Math.min(Math.max(1, Math.trunc(limit)), maxElements),
    ...(attributes !== undefined && { attributes: attributes.slice(0, maxNames) }),
    properties,
    styles: styles.slice(0, maxNames),
    html,
  }
}

async function frameOf(inspection: PageInspection, wanted: string): Promise<FrameInfo> {
  const frames = await inspection.frames()
  const frame = frames.find(({ name }) => name === wanted) ?? frames.find(({ url }) => url.includes(wanted))
  if (frame !== undefined) return frame
  const known = frames.slice(0, 10).map(({ name, url }) => quoted(name === '' ? url : name, 200))
  const hint = known.length === 0 ? 'The page has no frames.' : `The page has: ${known.join(', ')}.`
  throw new PageProblem('frame', `No frame has the name ${quoted(wanted)} or contains it in its URL. ${hint}`)
}
