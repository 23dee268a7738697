/// <reference lib="dom" />
import type { DomHelpers } from '../page/dom-helpers.ts'
import type { AuditFault } from '../records/records.ts'

/** Input for the audit of one frame. */
export interface AuditInput {
  /** Limits the audit to the matches; default: the whole frame. */
  readonly selector?: string
  /** Context of the parent frame's audit. */
  readonly context?: unknown
  readonly tags: readonly string[]
  readonly maxFaults: number
  readonly maxElements: number
  readonly maxHtmlLength: number
}

/** Result for one frame. */
export type FrameAudit =
  | { readonly problem: 'selector' | 'no match' | 'tag'; readonly message: string }
  | {
      readonly version: string
      readonly url: string
      readonly faults: readonly AuditFault[]
      /** Rules without violations. */
      readonly passed: readonly string[]
      /** Rules with an incomplete result. */
      readonly unsure: readonly string[]
      /** Frames inside the audited content. */
      readonly frames: readonly FrameContext[]
    }

interface FrameContext {
  /** One selector per root: the document, then shadow roots. */
  readonly path: readonly string[]
  /** Readable selector. */
  readonly selector: string
  readonly context: unknown
}

interface RawCheck {
  readonly message?: string
}

interface RawNode {
  readonly any: readonly RawCheck[]
  readonly all: readonly RawCheck[]
  readonly none: readonly RawCheck[]
  readonly node: { readonly element: Element; readonly selector: readonly (string | readonly string[])[] }
}

interface RawRule {
  readonly id: string
  readonly impact?: AuditFault['impact'] | null
  readonly help: string
  readonly description: string
  readonly helpUrl: string
  readonly tags: readonly string[]
  readonly violations: readonly RawNode[]
  readonly passes: readonly RawNode[]
  readonly incomplete: readonly RawNode[]
}

type Reporter = (rules: RawRule[], options: unknown, done: (result: unknown) => void) => void

interface Axe {
  readonly version: string
  readonly utils: {
    getFrameContexts(
      context: unknown,
    ): readonly { readonly frameSelector: string | readonly string[]; readonly frameContext: unknown }[]
    publishMetaData(rule: RawRule): void
    finalizeRuleResult(rule: RawRule): RawRule
  }
  readonly _audit: { after(rules: RawRule[], options: unknown): RawRule[] }
  getRules(tags?: readonly string[]): readonly { readonly tags: readonly string[] }[]
  addReporter(name: string, reporter: Reporter): void
  run(context: unknown, options: unknown): Promise<unknown>
}

/**
 * Runs before the engine is loaded. The engine yields with timers between rules, but the time limit of a script only covers the script
 * and its microtasks. Zero-delay timers of the engine become microtasks; timers of the page are not affected.
 */
export const beforeEngine = `if (globalThis.unfoldLater === undefined) {
  const later = globalThis.unfoldLater = globalThis.setTimeout
  globalThis.setTimeout = (work, ms = 0, ...rest) => ms > 0 ? later(work, ms, ...rest) : (Promise.resolve().then(() => work(...rest)), 0)
}`

/** Runs in pages: audits one frame with the loaded engine. Self-contained, because its source text is sent. */
export async function auditFrame(input: AuditInput, dom: DomHelpers): Promise<FrameAudit> {
  const { selector, tags, maxFaults, maxElements, maxHtmlLength } = input
  const maxFrames = 20
  const axe = Reflect.get(globalThis, 'axe') as Axe

  const known = [...new Set(axe.getRules().flatMap((rule) => rule.tags))]
  const unknown = tags.find((tag) => !known.includes(tag))
  if (unknown !== undefined) return { problem: 'tag', message: known.filter((tag) => !tag.includes('.')).join(', ') }
  if (selector !== undefined) {
    try {
      if (dom.all(document, selector).length === 0) return { problem: 'no match', message: '' }
    } catch (error) {
      return { problem: 'selector', message: dom.cut(error instanceof Error ? error.message : String(error), 500) }
    }
  }
  const context = input.context ?? { include: [[selector ?? ':root']], exclude: [] }
  const isInner = input.context !== undefined

  const summaryOf = ({ any, all, none }: RawNode): string => {
    const must = [...all, ...none].flatMap(({ message }) => message ?? [])
    const either = any.flatMap(({ message }) => message ?? [])
    return dom.cut([...must, either.join('; or: ')].filter((text) => text !== '').join('; '), 300)
  }
  const faultOf = (rule: RawRule): AuditFault => ({
    rule: rule.id,
    impact: rule.impact ?? 'moderate',
    help: dom.cut(rule.help, 300),
    description: dom.cut(rule.description, 300),
    helpUrl: rule.helpUrl,
    tags: rule.tags,
    elements: rule.violations.slice(0, maxElements).map((each) => ({
      selector: dom.cut(
        each.node.selector.map((part) => (typeof part === 'string' ? part : part.join(' >>> '))).join(' >>> '),
        500,
      ),
      html: dom.snippet(each.node.element, maxHtmlLength),
      summary: summaryOf(each),
    })),
    count: rule.violations.length,
  })
  // The built-in reporters describe every element, which takes longer than the audit on a large page.
  axe.addReporter('unfold', (found, options, done) => {
    let rules = found
    if (isInner) {
      // The engine leaves these steps to the page, which is in another world here.
      rules = axe._audit.after(rules, options)
      for (const rule of rules) axe.utils.publishMetaData(rule)
      rules = rules.map((rule) => axe.utils.finalizeRuleResult(rule))
    }
    done({
      faults: rules
        .filter(({ violations }) => violations.length > 0)
        .slice(0, maxFaults)
        .map(faultOf),
      passed: rules.filter(({ passes }) => passes.length > 0).map(({ id }) => id),
      unsure: rules.filter(({ incomplete }) => incomplete.length > 0).map(({ id }) => id),
    })
  })
  const frames = axe.utils.getFrameContexts(context).slice(0, maxFrames)
  const result = (await axe.run(context, {
    reporter: 'unfold',
    iframes: false,
    // The audit must not cause network requests.
    preload: false,
    // The caller decides which frames are audited.
    rules: { 'frame-tested': { enabled: false } },
    ...(tags.length > 0 && { runOnly: { type: 'tag', values: tags } }),
  })) as Pick<Extract<FrameAudit, { version: string }>, 'faults' | 'passed' | 'unsure'>
  return {
    version: axe.version,
    url: dom.cut(location.href, 2_000),
    ...result,
    frames: frames.map(({ frameSelector, frameContext }) => {
      const path = typeof frameSelector === 'string' ? [frameSelector] : frameSelector
      const [element] = path.length === 1 ? Array.from(dom.all(document, path[0] ?? '')) : []
      return { path, selector: (element && dom.selectorOf(element)) ?? path.join(' >>> '), context: frameContext }
    }),
  }
}

/** Runs in pages: finds the frame element at a path of selectors. */
export function frameElement({ path }: { readonly path: readonly string[] }, dom: DomHelpers): Element | null {
  let element: Element | null = null
  for (const part of path) {
    const root: Document | ShadowRoot | undefined = element === null ? document : dom.shadowOf(element)
    element = root === undefined ? null : (dom.all(root, part)[0] ?? null)
    if (element === null) return null
  }
  return element
}

/** Runs in pages: counts the elements. */
export function countElements(_: null, dom: DomHelpers): number {
  return dom.all(document, '*').length
}
