/// <reference lib="dom" />
import type { Box, DomHelpers } from '../page/dom-helpers.ts'

/** Query for elements of a page. */
export interface Query {
  readonly selector: string
  readonly limit: number
  /** Only these attributes; default: all, up to a limit. */
  readonly attributes?: readonly string[]
  readonly properties: readonly string[]
  readonly styles: readonly string[]
  readonly html: boolean
}

/** Current state of an element. */
export interface FoundElement {
  readonly tag: string
  /** Matches only this element; ` >>> ` enters a shadow root. */
  readonly selector?: string
  readonly text?: string
  readonly role?: string
  readonly name?: string
  readonly attributes: { readonly [name: string]: string }
  readonly properties?: { readonly [name: string]: string | number | boolean | null }
  readonly styles?: { readonly [name: string]: string }
  readonly html?: string
  readonly isVisible: boolean
  readonly isInView: boolean
  /** In CSS pixels relative to the viewport. */
  readonly box: Box
}

export type Found =
  | { readonly url: string; readonly total: number; readonly elements: readonly FoundElement[] }
  | { readonly problem: string }

/** Runs in pages: finds elements. Self-contained, because its source text is sent. */
export function queryElements({ selector, limit, attributes, properties, styles, html }: Query, dom: DomHelpers): Found {
  const maxTextLength = 200
  const maxHtmlLength = 500
  const maxAttributes = 30
  const maxAttributeLength = 200
  const isElement = (node: Node | null): node is Element => node instanceof Element

  const byXpath = (expression: string): { readonly total: number; readonly first: readonly Element[] } => {
    const result = dom.byXpath(expression)
    const first: Element[] = []
    for (let i = 0; i < result.snapshotLength && first.length < limit; i++) {
      const node = result.snapshotItem(i)
      if (isElement(node)) first.push(node)
    }
    if (first.length === 0 && result.snapshotLength > 0) throw new Error('it selects attributes or text instead of elements')
    return { total: result.snapshotLength, first }
  }
  const byCss = (css: string): { readonly total: number; readonly first: readonly Element[] } => {
    const parts = css.split(' >>> ')
    let found = dom.all(document, parts[0] ?? '')
    for (const part of parts.slice(1)) {
      const roots = Array.from(found).flatMap((each) => dom.shadowOf(each) ?? [])
      found = roots.flatMap((root) => Array.from(dom.all(root, part)))
    }
    const first: Element[] = []
    for (let i = 0; i < found.length && i < limit; i++) {
      const element = found[i]
      if (element !== undefined) first.push(element)
    }
    return { total: found.length, first }
  }

  const attributesOf = (element: Element): Record<string, string> => {
    if (attributes === undefined) return dom.attributesOf(element, maxAttributes, maxAttributeLength)
    const all = dom.attributesOf(element, 1_000, maxAttributeLength)
    return Object.fromEntries(attributes.flatMap((name) => (Object.hasOwn(all, name) ? [[name, all[name] ?? '']] : [])))
  }
  const propertiesOf = (element: Element): NonNullable<FoundElement['properties']> => {
    const found: [string, string | number | boolean | null][] = []
    for (const name of properties) {
      const value: unknown = Reflect.get(element, name)
      if (typeof value === 'string')
        found.push([name, name === 'value' && dom.isSecret(element) ? dom.hiddenValue : dom.cut(value, 200)])
      else if (typeof value === 'number') found.push([name, Number.isFinite(value) ? value : String(value)])
      else if (typeof value === 'boolean' || value === null) found.push([name, value])
    }
    return Object.fromEntries(found)
  }
  const stylesOf = (element: Element): Record<string, string> => {
    const computed = getComputedStyle(element)
    return Object.fromEntries(styles.map((name) => [name, dom.cut(computed.getPropertyValue(name), 200)]))
  }
  const described = (element: Element): FoundElement => {
    const box = dom.boxOf(element)
    const isVisible = dom.isVisible(element) && box.width > 0 && box.height > 0
    const isBeside = box.x + box.width <= 0 || box.y + box.height <= 0 || box.x >= innerWidth || box.y >= innerHeight
    const path = dom.selectorOf(element)
    const text = dom.textOf(element, maxTextLength)
    const role = dom.roleOf(element)
    const name = dom.nameOf(element)
    return {
      tag: dom.cut(dom.tagOf(element), 100),
      ...(path !== undefined && { selector: path }),
      ...(role !== undefined && { role }),
      ...(name !== undefined && name !== text && { name }),
      ...(text !== '' && { text }),
      attributes: attributesOf(element),
      ...(properties.length > 0 && { properties: propertiesOf(element) }),
      ...(styles.length > 0 && { styles: stylesOf(element) }),
      ...(html && { html: dom.snippet(element, maxHtmlLength) }),
      isVisible,
      isInView: isVisible && !isBeside,
      box,
    }
  }

  try {
    const { total, first } = /^(?:xpath=|\.?\/|\()/.test(selector) ? byXpath(selector.replace(/^xpath=/, '')) : byCss(selector)
    return { url: dom.cut(location.href, 2_000), total, elements: first.map(described) }
  } catch (error) {
    return { problem: dom.cut(error instanceof Error ? error.message : String(error), 500) }
  }
}
