/// <reference lib="dom" />

/** Element access; form fields can shadow properties of their form. */
interface Reading {
  readonly tagOf: (element: Element) => string
  readonly attribute: (element: Element, name: string) => string | undefined
}

/**
 * Runs in pages: implicit ARIA roles after HTML-AAM. Self-contained, because its source text is sent.
 */
export function makeAria({ tagOf, attribute }: Reading) {
  const tagRoles: { readonly [tag: string]: string } = {
    button: 'button',
    textarea: 'textbox',
    option: 'option',
    nav: 'navigation',
    main: 'main',
    aside: 'complementary',
    article: 'article',
    form: 'form',
    table: 'table',
    tr: 'row',
    td: 'cell',
    th: 'columnheader',
    ul: 'list',
    ol: 'list',
    li: 'listitem',
    dialog: 'dialog',
    progress: 'progressbar',
    meter: 'meter',
    output: 'status',
    hr: 'separator',
    fieldset: 'group',
    details: 'group',
    summary: 'button',
    h1: 'heading',
    h2: 'heading',
    h3: 'heading',
    h4: 'heading',
    h5: 'heading',
    h6: 'heading',
  }
  const inputRoles: { readonly [type: string]: string } = {
    button: 'button',
    submit: 'button',
    reset: 'button',
    image: 'button',
    checkbox: 'checkbox',
    radio: 'radio',
    range: 'slider',
    number: 'spinbutton',
    search: 'searchbox',
    email: 'textbox',
    tel: 'textbox',
    text: 'textbox',
    url: 'textbox',
  }
  /** Returns the first explicit role of an element. */
  const explicitRole = (element: Element): string | undefined =>
    attribute(element, 'role')?.trim().split(/\s+/)[0]?.toLowerCase() || undefined
  const roleOf = (element: Element): string | undefined => {
    const explicit = explicitRole(element)
    if (explicit !== undefined) return explicit
    const tag = tagOf(element)
    if (tag === 'a' || tag === 'area') return attribute(element, 'href') === undefined ? undefined : 'link'
    if (tag === 'img') return attribute(element, 'alt') === '' ? undefined : 'img'
    if (tag === 'input') {
      const type = (attribute(element, 'type') ?? 'text').toLowerCase()
      return Object.hasOwn(inputRoles, type) ? inputRoles[type] : undefined
    }
    if (tag === 'select') {
      const isList = Element.prototype.hasAttribute.call(element, 'multiple') || Number(attribute(element, 'size')) > 1
      return isList ? 'listbox' : 'combobox'
    }
    if (tag === 'header' || tag === 'footer') {
      const isInside = Element.prototype.closest.call(element, 'article, aside, main, nav, section') !== null
      return isInside ? undefined : { header: 'banner', footer: 'contentinfo' }[tag]
    }
    if (tag === 'section') return attribute(element, 'aria-label') || attribute(element, 'aria-labelledby') ? 'region' : undefined
    return Object.hasOwn(tagRoles, tag) ? tagRoles[tag] : undefined
  }
  const namedByContent =
    /^(?:button|cell|checkbox|columnheader|gridcell|heading|link|menuitem|menuitemcheckbox|menuitemradio|option|radio|row|rowheader|switch|tab|tooltip|treeitem)$/
  /** True if the role takes its accessible name from its content. */
  const isNamedByContent = (role: string): boolean => namedByContent.test(role)
  return { explicitRole, isNamedByContent, roleOf }
}
