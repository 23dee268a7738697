/// <reference lib="dom" />
import type { makeAria } from '../../base/aria.ts'
import type { Selectors } from '../../records/records.ts'

/**
 * Runs in pages: creates the function that computes selectors for an element. Self-contained, because its source text is sent. Form
 * fields can shadow properties of their form, so properties are read through the prototypes.
 */
export function makeSelectorsOf(ariaOf: typeof makeAria): (element: Element) => Selectors {
  const maxTextLength = 120
  const maxNodes = 300
  const maxAlike = 300
  const getter = (prototype: object, name: string): ((object: object) => unknown) => {
    const property = Object.getOwnPropertyDescriptor(prototype, name)
    return (object) => {
      try {
        return property?.get?.call(object)
      } catch {
        return undefined
      }
    }
  }
  const readTag = getter(Element.prototype, 'localName')
  const readParent = getter(Node.prototype, 'parentNode')
  const readChildren = getter(Node.prototype, 'childNodes')
  const readValue = getter(HTMLInputElement.prototype, 'value')
  const labelsOf = [HTMLInputElement, HTMLSelectElement, HTMLTextAreaElement, HTMLButtonElement].map(
    (type) => [type, getter(type.prototype, 'labels')] as const,
  )
  const asText = (value: unknown): string => (typeof value === 'string' ? value : '')
  const tagOf = (element: Element): string => asText(readTag(element))
  const attribute = (element: Element, name: string): string | undefined => {
    const value = Element.prototype.getAttribute.call(element, name)
    return value === null || value.trim() === '' ? undefined : value
  }
  const parentOf = (element: Element): Element | undefined => {
    const parent = readParent(element)
    return parent instanceof Element ? parent : undefined
  }
  const rootOf = (element: Element): Document | ShadowRoot => {
    const root = Node.prototype.getRootNode.call(element)
    return root instanceof ShadowRoot ? root : document
  }
  const tidy = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, maxTextLength)
  const all = (root: Document | ShadowRoot, css: string): ArrayLike<Element> => {
    try {
      return (root instanceof Document ? Document : DocumentFragment).prototype.querySelectorAll.call(root, css)
    } catch {
      return []
    }
  }
  const isOnly = (element: Element, css: string): boolean => {
    const found = all(rootOf(element), css)
    return found.length === 1 && found[0] === element
  }

  /** Visible text of an element without the values of its fields. */
  const textIn = (element: Element): string => {
    let text = ''
    let nodes = 0
    const walk = (node: object): void => {
      for (const child of (readChildren(node) ?? []) as Iterable<Node>) {
        nodes += 1
        if (nodes > maxNodes || text.length > maxTextLength * 2) return
        if (child instanceof Text) text += child.data
        if (!(child instanceof Element) || attribute(child, 'aria-hidden') === 'true') continue
        const tag = tagOf(child)
        if (tag === 'img') text += ` ${attribute(child, 'alt') ?? ''} `
        else if (!/^(?:script|style|noscript|template|input|select|textarea|svg)$/.test(tag)) {
          walk(child)
          if (!/^(?:a|b|i|em|strong|span|code|small|sub|sup|mark|u|s)$/.test(tag)) text += ' '
        }
      }
    }
    walk(element)
    return tidy(text)
  }

  const labelOf = (element: Element): string | undefined => {
    for (const [type, read] of labelsOf) {
      if (!(element instanceof type)) continue
      const [label] = Array.from((read(element) ?? []) as Iterable<Element>)
      const text = label === undefined ? '' : textIn(label)
      return text === '' ? undefined : text
    }
    return undefined
  }

  const aria = ariaOf({ tagOf, attribute })
  // For other tags the role alone is ambiguous: a `th` may be a row header, a `form` needs a name.
  const foundByRole = /^(?:a|button|h[1-6]|img|input|option|select|textarea)$/
  const roleOf = (element: Element): string | undefined => {
    const role = foundByRole.test(tagOf(element)) ? aria.roleOf(element) : aria.explicitRole(element)
    return role?.slice(0, 50)
  }
  const accessibleName = (element: Element, role: string): string => {
    const ids = attribute(element, 'aria-labelledby')?.trim().split(/\s+/).slice(0, 5) ?? []
    const byOthers = ids.map((id) => Array.from(all(rootOf(element), `#${CSS.escape(id)}`))[0])
    const untrustedNotice = tidy(byOthers.map((other) => (other === undefined ? '' : textIn(other))).join(' '))
    if (untrustedNotice !== '') return untrustedNotice
    const label = attribute(element, 'aria-label') ?? labelOf(element)
    if (label !== undefined) return tidy(label)
    const tag = tagOf(element)
    if (tag === 'input' && role === 'button') return tidy(asText(readValue(element)) || (attribute(element, 'alt') ?? ''))
    if (tag === 'img') return tidy(attribute(element, 'alt') ?? '')
    const content = tag !== 'input' && aria.isNamedByContent(role) ? textIn(element) : ''
    if (content !== '') return content
    return tidy(attribute(element, 'title') ?? attribute(element, 'placeholder') ?? '')
  }
  /** Returns role and name if they are unique. */
  const roleAndName = (element: Element): Selectors['role'] => {
    const role = roleOf(element)
    if (role === undefined) return undefined
    const name = accessibleName(element, role)
    if (name === '') return undefined
    const alike = all(rootOf(element), `${tagOf(element)},[role]`)
    for (let i = 0; i < alike.length && i < maxAlike; i++) {
      const other = alike[i]
      if (other !== undefined && other !== element && roleOf(other) === role && accessibleName(other, role) === name)
        return undefined
    }
    return { role, name }
  }

  const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`
  const byAttribute = (element: Element, name: string, tag = ''): string | undefined => {
    const value = attribute(element, name)
    if (value === undefined || value.length > 200 || /[\n\r\f]/.test(value)) return undefined
    const css = `${tag}[${name}=${quoted(value)}]`
    return isOnly(element, css) ? css : undefined
  }
  const byId = (element: Element): string | undefined => {
    const id = attribute(element, 'id')
    if (id === undefined || id.length > 200) return undefined
    const css = `#${CSS.escape(id)}`
    return isOnly(element, css) ? css : undefined
  }
  const placeOf = (element: Element): { readonly tag: string; readonly index: number; readonly isAlone: boolean } => {
    const tag = tagOf(element)
    let index = 1
    let isAlone = true
    let isBefore = true
    for (const sibling of (readChildren(Object(readParent(element))) ?? []) as Iterable<Node>) {
      if (sibling === element) isBefore = false
      else if (sibling instanceof Element && tagOf(sibling) === tag) {
        isAlone = false
        if (isBefore) index += 1
      }
    }
    return { tag, index, isAlone }
  }
  const cssOf = (element: Element): string => {
    for (const name of ['data-testid', 'data-test', 'data-cy']) {
      const css = byAttribute(element, name)
      if (css !== undefined) return css
    }
    const own = byId(element) ?? byAttribute(element, 'name', CSS.escape(tagOf(element)))
    if (own !== undefined) return own
    const parts: string[] = []
    for (let at: Element | undefined = element; at !== undefined && parts.length < 40; at = parentOf(at)) {
      const id = at === element ? undefined : byId(at)
      if (id !== undefined) {
        parts.unshift(id)
        break
      }
      const { tag, index, isAlone } = placeOf(at)
      parts.unshift(isAlone ? CSS.escape(tag) : `${CSS.escape(tag)}:nth-of-type(${index})`)
      const css = parts.join(' > ')
      if (parts.length > 1 && isOnly(element, css)) return css
    }
    return parts.join(' > ')
  }
  const xpathOf = (element: Element): string => {
    const parts: string[] = []
    for (let at: Element | undefined = element; at !== undefined && parts.length < 40; at = parentOf(at)) {
      const id = attribute(at, 'id')
      if (id !== undefined && !id.includes('"') && byId(at) !== undefined) return [`//*[@id="${id}"]`, ...parts].join('/')
      const { tag, index } = placeOf(at)
      parts.unshift(
        /^[a-z][a-z0-9-]*$/.test(tag) && document.contentType === 'text/html'
          ? `${tag}[${index}]`
          : `*[local-name()="${tag}"][${index}]`,
      )
    }
    return `/${parts.join('/')}`
  }

  return (element) => {
    const testId = byAttribute(element, 'data-testid') === undefined ? undefined : attribute(element, 'data-testid')
    const role = roleAndName(element)
    const label = labelOf(element) ?? attribute(element, 'aria-label')
    const placeholder = attribute(element, 'placeholder')
    const isField =
      /^(?:input|select|textarea)$/.test(tagOf(element)) || (element instanceof HTMLElement && element.isContentEditable)
    const text = isField ? '' : textIn(element)
    return {
      ...(testId !== undefined && { testId: testId.slice(0, 500) }),
      ...(role && { role }),
      ...(label !== undefined && { label: tidy(label) }),
      ...(placeholder !== undefined && { placeholder: tidy(placeholder) }),
      ...(text !== '' && text.length < maxTextLength && { text }),
      css: cssOf(element).slice(0, 2_000),
      xpath: xpathOf(element).slice(0, 2_000),
    }
  }
}
