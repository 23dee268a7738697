/// <reference lib="dom" />
import type { makeAria } from '../base/aria.ts'

/** Bounding box of an element. */
export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Helpers for scripts in pages. */
export type DomHelpers = ReturnType<typeof createDomHelpers>

/**
 * Runs in pages, in an isolated world. Self-contained, because its source text is sent. Form fields and named elements can shadow
 * properties of forms and documents, so properties are read through the prototypes.
 */
export function createDomHelpers(ariaOf: typeof makeAria) {
  const hiddenValue = '[hidden]'
  const maxSteps = 20_000
  const maxPath = 60
  const secretWords =
    /pass(?:word|wd|phrase|code)|secret|token|api[-_]?key|csrf|xsrf|nonce|otp|\bpin\b|cvv|cvc|card[-_]?(?:no|num)|ssn|credential|private[-_]?key|session[-_]?id|auth(?:orization)?[-_]?(?:code|key)/i
  const secretUses = /(?:^|\s)(?:cc-|one-time-code|current-password|new-password)/i
  const unread = /^(?:script|style|noscript|template|textarea)$/
  const testIds = ['data-testid', 'data-test', 'data-cy']
  const inline = /^(?:a|abbr|b|bdi|bdo|cite|code|em|font|i|kbd|mark|q|s|small|span|strong|sub|sup|time|u|var|wbr)$/

  const reader = (prototype: object, name: string): ((object: object) => unknown) => {
    const descriptor = Object.getOwnPropertyDescriptor(prototype, name)
    return (object) => {
      try {
        return descriptor?.get?.call(object)
      } catch {
        return undefined
      }
    }
  }
  type Read<T> = (object: object) => T | undefined
  const readTag = reader(Element.prototype, 'localName') as Read<string>
  const readAttributes = reader(Element.prototype, 'attributes') as Read<NamedNodeMap>
  const readParent = reader(Node.prototype, 'parentNode') as Read<Node | null>
  const readFirst = reader(Node.prototype, 'firstChild') as Read<Node | null>
  const readNext = reader(Node.prototype, 'nextSibling') as Read<Node | null>
  const readBefore = reader(Element.prototype, 'previousElementSibling') as Read<Element | null>
  const readAfter = reader(Element.prototype, 'nextElementSibling') as Read<Element | null>
  const readShadow = reader(Element.prototype, 'shadowRoot') as Read<ShadowRoot | null>
  const readHost = reader(ShadowRoot.prototype, 'host') as Read<Element>
  const untrustedNotice = [HTMLInputElement, HTMLSelectElement, HTMLTextAreaElement, HTMLButtonElement, HTMLOutputElement].map(
    (type) => [type, reader(type.prototype, 'labels') as Read<NodeListOf<HTMLLabelElement> | null>] as const,
  )

  const cut = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max - 1)}…`)
  const tagOf = (element: Element): string => readTag(element) ?? ''
  const isRead = (tag: string): boolean => !unread.test(tag)
  const attribute = (element: Element, name: string): string | undefined =>
    Element.prototype.getAttribute.call(element, name) ?? undefined
  const shadowOf = (element: Element): ShadowRoot | undefined => readShadow(element) ?? undefined
  const rootOf = (element: Element): Document | ShadowRoot => {
    const root = Node.prototype.getRootNode.call(element)
    return root instanceof ShadowRoot ? root : document
  }
  const parentOf = (element: Element): Element | undefined => {
    const parent = readParent(element)
    return parent instanceof Element ? parent : undefined
  }

  /** Finds the matches of a selector below a document, shadow root or element; throws the browser's error for an invalid one. */
  const all = (root: Document | DocumentFragment | Element, css: string): ArrayLike<Element> => {
    if (root instanceof Document) return Document.prototype.querySelectorAll.call(root, css)
    if (root instanceof Element) return Element.prototype.querySelectorAll.call(root, css)
    return DocumentFragment.prototype.querySelectorAll.call(root, css)
  }
  const byXpath = (expression: string): XPathResult =>
    Document.prototype.evaluate.call(document, expression, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null)

  /** True for a field whose value is secret. */
  const isSecret = (element: Element): boolean => {
    const tag = tagOf(element)
    if (tag !== 'input' && tag !== 'textarea' && tag !== 'select' && tag !== 'meta') return false
    const type = (attribute(element, 'type') ?? '').toLowerCase()
    if (type === 'password' || type === 'hidden') return true
    if (secretUses.test(attribute(element, 'autocomplete') ?? '')) return true
    return ['name', 'id', 'aria-label', 'placeholder', 'property'].some((name) =>
      secretWords.test(attribute(element, name) ?? ''),
    )
  }

  /** Attributes of an element without secrets. */
  const attributesOf = (element: Element, max: number, maxLength: number): Record<string, string> => {
    const found: [string, string][] = []
    const hides = isSecret(element)
    const attributes = readAttributes(element)
    for (let i = 0; i < (attributes?.length ?? 0) && found.length < max; i++) {
      const each = NamedNodeMap.prototype.item.call(attributes, i)
      if (each === null) continue
      const isRedactedValue =
        (hides && (each.name === 'value' || each.name === 'content')) || (each.value !== '' && secretWords.test(each.name))
      found.push([cut(each.name, 100), isRedactedValue ? hiddenValue : cut(each.value, maxLength)])
    }
    return Object.fromEntries(found)
  }

  /** True if the element would be visible after scrolling to it. */
  const isVisible = (element: Element): boolean =>
    Element.prototype.checkVisibility.call(element, { opacityProperty: true, visibilityProperty: true })

  const boxOf = (element: Element): Box => {
    const { x, y, width, height } = Element.prototype.getBoundingClientRect.call(element)
    const round = (value: number): number => Math.round(value * 10) / 10
    return { x: round(x), y: round(y), width: round(width), height: round(height) }
  }

  /** Returns up to `max` characters of text in an element; optionally only visible text. */
  const textOf = (element: Element, max: number, seen: 'all' | 'visible' = 'all'): string => {
    let text = ''
    if (!isRead(tagOf(element))) return ''
    // Iterative: recursion would overflow the stack on a deeply nested page.
    let node: Node | null | undefined = readFirst(element)
    for (let steps = 0; node && steps < maxSteps; steps++) {
      let next: Node | null | undefined
      if (node instanceof Text) text += node.data.slice(0, max * 4)
      if (node instanceof Element) {
        const tag = tagOf(node)
        if (!inline.test(tag)) text += ' '
        if (isRead(tag) && (seen === 'all' || isVisible(node))) next = readFirst(node)
      }
      while (!next && node && node !== element) {
        next = readNext(node)
        if (next) break
        node = readParent(node)
        if (node instanceof Element && !inline.test(tagOf(node))) text += ' '
      }
      node = next
      if (text.length <= max) continue
      text = text.replace(/\s+/g, ' ').trimStart()
      if (text.length > max) break
    }
    return cut(text.replace(/\s+/g, ' ').trim(), max)
  }

  /** Beginning of the markup of an element, without secrets, scripts and styles. */
  const snippet = (element: Element, max: number): string => {
    let html = ''
    let steps = 0
    const open: Element[] = []
    let node: Node | null | undefined = element
    while (node && html.length <= max && steps < maxSteps) {
      steps += 1
      if (node instanceof Text) html += escaped(node.data.slice(0, max).replace(/\s+/g, ' '))
      let next: Node | null | undefined
      if (node instanceof Element) {
        const attributes = Object.entries(attributesOf(node, 20, 100)).map(([name, value]) => ` ${name}="${escaped(value)}"`)
        html += `<${tagOf(node)}${attributes.join('')}>`
        open.push(node)
        next = isRead(tagOf(node)) ? readFirst(node) : undefined
      }
      while (!next && node) {
        if (node === open.at(-1)) {
          open.pop()
          if (readFirst(node) || !/^(?:input|img|br|hr|meta|link|source|area|col|wbr)$/.test(tagOf(node as Element)))
            html += `</${tagOf(node as Element)}>`
        }
        if (node === element) break
        next = readNext(node)
        if (!next) node = readParent(node)
      }
      node = next
    }
    return cut(html, max)
  }
  const escaped = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;')

  const isOnly = (element: Element, css: string): boolean => {
    const found = all(rootOf(element), css)
    return found.length === 1 && found[0] === element
  }
  const placeOf = (element: Element): string => {
    const tag = tagOf(element)
    let place = 1
    for (let each = readBefore(element); each; each = readBefore(each)) if (tagOf(each) === tag) place += 1
    let isAlone = place === 1
    for (let each = readAfter(element); each && isAlone; each = readAfter(each)) if (tagOf(each) === tag) isAlone = false
    return isAlone ? CSS.escape(tag) : `${CSS.escape(tag)}:nth-of-type(${place})`
  }
  const shortSelector = (element: Element): string | undefined => {
    const id = attribute(element, 'id')
    if (id !== undefined && id !== '' && id.length <= 100 && isOnly(element, `#${CSS.escape(id)}`)) return `#${CSS.escape(id)}`
    for (const name of testIds) {
      const value = attribute(element, name)
      if (value === undefined || value === '' || value.length > 100) continue
      const css = `[${name}="${CSS.escape(value)}"]`
      if (isOnly(element, css)) return css
    }
    return undefined
  }
  /** Returns a unique selector; ` >>> ` enters a shadow root. `undefined` if the element is nested too deeply. */
  const selectorOf = (element: Element): string | undefined => {
    const parts: string[] = []
    let each: Element | undefined = element
    for (let steps = 0; each !== undefined; steps++) {
      if (steps > maxPath) return undefined
      const short = shortSelector(each)
      parts.unshift(short ?? placeOf(each))
      if (short !== undefined) break
      each = parentOf(each)
    }
    const css = parts.join(' > ')
    const root = rootOf(element)
    const host = root instanceof ShadowRoot ? readHost(root) : undefined
    if (host === undefined) return css
    const outer = selectorOf(host)
    return outer === undefined || outer.length > 2_000 ? undefined : `${outer} >>> ${css}`
  }

  const aria = ariaOf({ tagOf, attribute })
  const roleOf = (element: Element): string | undefined => {
    const role = aria.roleOf(element)
    return role === undefined ? undefined : cut(role, 40)
  }
  const labelOf = (element: Element): string | undefined => {
    for (const [type, read] of untrustedNotice) {
      if (!(element instanceof type)) continue
      const [label] = Array.from(read(element) ?? [])
      return label === undefined ? undefined : textOf(label, 120)
    }
    return undefined
  }
  // ARIA does not name list items by their content, but people do.
  const isNamedByText = (role: string): boolean => role === 'listitem' || aria.isNamedByContent(role)
  /** Computes an approximate accessible name. */
  const nameOf = (element: Element): string | undefined => {
    const root = rootOf(element)
    const ids = (attribute(element, 'aria-labelledby') ?? '').trim().split(/\s+/).filter(Boolean).slice(0, 5)
    const others = ids.flatMap((id) => Array.from(all(root, `[id="${CSS.escape(id)}"]`)).slice(0, 1))
    const isButton = tagOf(element) === 'input' && /^(?:submit|button|reset)$/i.test(attribute(element, 'type') ?? '')
    const ways = [
      () => others.map((other) => textOf(other, 60)).join(' '),
      () => attribute(element, 'aria-label'),
      () => labelOf(element),
      () => attribute(element, 'alt'),
      () => (isButton ? attribute(element, 'value') : undefined),
      () => (isNamedByText(roleOf(element) ?? '') ? textOf(element, 120) : undefined),
      () => attribute(element, 'title'),
      () => attribute(element, 'placeholder'),
    ]
    for (const way of ways) {
      const name = way()?.replace(/\s+/g, ' ').trim()
      if (name !== undefined && name !== '') return cut(name, 120)
    }
    return undefined
  }

  return {
    all,
    attribute,
    attributesOf,
    boxOf,
    byXpath,
    cut,
    hiddenValue,
    isSecret,
    isVisible,
    labelOf,
    nameOf,
    roleOf,
    selectorOf,
    shadowOf,
    snippet,
    tagOf,
    textOf,
  }
}
