import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { inspectPage, type PageInspection } from '../page/inspection.ts'
import { PageProblem } from '../page/page-problem.ts'
import type { Audit, AuditFault, NewRecord, Recorded } from '../records/records.ts'
import { quoted } from '../reply/reply.ts'
import { auditFrame, beforeEngine, countElements, type FrameAudit, frameElement } from './axe-script.ts'

export interface AuditOptions {
  /** Limits the audit to the matches of this CSS selector and their descendants. */
  readonly selector?: string
  /** Limits the audit to rules with one of these tags, such as `wcag2a` or `best-practice`. */
  readonly tags?: readonly string[]
  readonly tab?: string
  /** Default: 30 000. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  readonly now?: () => number
}

type Results = Extract<FrameAudit, { version: string }>

interface Audited {
  /** The page first, then its frames. */
  readonly results: readonly Results[]
  /** Frames that could not be audited. */
  readonly unreachable: number
}

const defaultAuditMs = 30_000
const maxFaults = 200
const maxElements = 20
const maxHtmlLength = 300
const maxFrames = 30
const maxDepth = 5
const impacts: readonly AuditFault['impact'][] = ['critical', 'serious', 'moderate', 'minor']

/** Audits the current page with its frames, without leaving a trace in it. After a navigation, the new page is audited. */
export async function auditPage(page: Page, options: AuditOptions = {}): Promise<NewRecord<Audit>> {
  const { timeoutMs = defaultAuditMs, signal, now = Date.now, tab = '' } = options
  const until = Date.now() + timeoutMs
  const attempt = () =>
    inspectPage(page, { timeoutMs: Math.max(1, until - Date.now()), ...(signal !== undefined && { signal }) }, (inspection) =>
      runAudit(inspection, options),
    )
  const results = await attempt().catch(async (error: unknown) => {
    if (reasonOf(error) !== 'navigated') throw await explainTimeout(page, error, timeoutMs)
    await page.waitForLoadState('domcontentloaded', { timeout: Math.max(1, until - Date.now()) }).catch(() => undefined)
    return attempt().catch(async (again: unknown) => {
      if (reasonOf(again) !== 'navigated') throw await explainTimeout(page, again, timeoutMs)
      throw new PageProblem('navigated', 'The page navigated twice during the audit. Audit it when it has settled.', {
        cause: again,
      })
    })
  })
  return { at: now(), tab, ...mergeResults(results) }
}

async function runAudit(inspection: PageInspection, { selector, tags = [] }: AuditOptions): Promise<Audited> {
  const source = await engine()
  const results: Results[] = []
  let unreachable = 0

  const audit = async (
    frame: string | undefined,
    asked: { readonly selector?: string; readonly context?: unknown },
    path: string,
    depth: number,
  ) => {
    await inspection.load(source, frame)
    const found = await inspection.run(auditFrame, { ...asked, tags, maxFaults, maxElements, maxHtmlLength }, frame)
    if ('problem' in found) throw selectorProblem(found, selector, tags)
    results.push(path === '' ? found : { ...found, faults: found.faults.map((fault) => prefixPath(fault, path)) })
    for (const inner of found.frames) {
      const child =
        depth < maxDepth && results.length + unreachable < maxFrames
          ? await inspection.frameIn(frameElement, { path: inner.path }, frame)
          : undefined
      if (child === undefined) {
        unreachable += 1
        continue
      }
      const there = `${path}${inner.selector} >>> `
      // A frame that navigates or refuses must not fail the rest of the audit.
      await audit(child.id, { context: inner.context }, there, depth + 1).catch(() => {
        unreachable += 1
      })
    }
  }
  await audit(undefined, selector === undefined ? {} : { selector }, '', 0)
  return { results, unreachable }
}

function prefixPath(fault: AuditFault, path: string): AuditFault {
  return { ...fault, elements: fault.elements.map((each) => ({ ...each, selector: `${path}${each.selector}`.slice(0, 1_000) })) }
}

function mergeResults({ results, unreachable }: Audited): Omit<Audit, keyof Recorded> {
  const faults = new Map<string, AuditFault>()
  for (const fault of results.flatMap((each) => each.faults)) {
    const known = faults.get(fault.rule)
    const elements = [...(known?.elements ?? []), ...fault.elements].slice(0, maxElements)
    faults.set(fault.rule, { ...(known ?? fault), elements, count: (known?.count ?? 0) + fault.count })
  }
  const unsure = new Set(results.flatMap((each) => each.unsure))
  const passed = new Set(results.flatMap((each) => each.passed).filter((rule) => !faults.has(rule) && !unsure.has(rule)))
  return {
    url: results[0]?.url ?? '',
    engine: `axe-core ${results[0]?.version ?? ''}`.trim(),
    faults: [...faults.values()].sort(byImpact).slice(0, maxFaults),
    passes: passed.size,
    incomplete: unsure.size + unreachable,
  }
}

function byImpact(a: AuditFault, b: AuditFault): number {
  return impacts.indexOf(a.impact) - impacts.indexOf(b.impact) || b.count - a.count || (a.rule < b.rule ? -1 : 1)
}

function selectorProblem(
  { problem, message }: Extract<FrameAudit, { problem: string }>,
  selector = '',
  tags: readonly string[] = [],
): PageProblem {
  const selectorText = quoted(selector, 200)
  if (problem === 'tag')
    return new PageProblem(
      'option',
      `No rule has one of the tags ${tags.map((tag) => quoted(tag)).join(', ')}. Available tags: ${message}.`,
    )
  if (problem === 'no match')
    return new PageProblem('selector', `No element matches the selector ${selectorText}. Find one with query_dom.`)
  return new PageProblem('selector', `Invalid selector ${selectorText}: ${message}`)
}

async function explainTimeout(page: Page, error: unknown, timeoutMs: number): Promise<unknown> {
  if (reasonOf(error) !== 'slow') return error
  const elements = await inspectPage(page, { timeoutMs: 5_000 }, (inspection) => inspection.run(countElements, null)).catch(
    () => undefined,
  )
  const size = elements === undefined ? '' : `: the page has ${elements} elements`
  return new PageProblem(
    'slow',
    `The audit did not end within ${timeoutMs / 1000} s${size}. Audit a part of it with a selector, or fewer rules with tags.`,
    { cause: error },
  )
}

function reasonOf(error: unknown): string | undefined {
  return error instanceof PageProblem ? error.reason : undefined
}

const require = createRequire(import.meta.url)
let loading: Promise<string> | undefined

function engine(): Promise<string> {
  loading ??= readFile(require.resolve('axe-core/axe.min.js'), 'utf8').then(
    // An aborted run leaves an engine that considers itself running, so each audit loads its own.
    (source) => `${beforeEngine}\n${source}`,
  )
  return loading
}
