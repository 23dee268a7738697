/// <reference lib="dom" />
import type { DomHelpers } from '../page/dom-helpers.ts'

/** Summary of a page, without values of its fields. */
export interface PageDescription {
  readonly url: string
  readonly title: string
  readonly language?: string
  readonly description?: string
  /** `document.readyState`. */
  readonly loadState: string
  readonly viewport: { readonly width: number; readonly height: number }
  readonly scroll: { readonly x: number; readonly y: number; readonly height: number }
  readonly counts: {
    readonly elements: number
    readonly links: number
    readonly buttons: number
    readonly images: number
    readonly frames: number
    readonly headings: number
    readonly forms: number
    readonly fields: number
  }
  readonly headings: readonly { readonly level: number; readonly text: string }[]
  readonly landmarks: readonly { readonly role: string; readonly name?: string }[]
  readonly forms: readonly FormDescription[]
  /** Fields outside forms. */
  readonly looseFields: readonly FieldDescription[]
  readonly focus?: string
  /** Beginning of the visible text. */
  readonly text: string
}

interface FormDescription {
  readonly selector?: string
  readonly name?: string
  readonly method: string
  readonly action?: string
  readonly fields: readonly FieldDescription[]
  /** Number of fields that are not shown. */
  readonly moreFields?: number
}

interface FieldDescription {
  readonly selector?: string
  readonly type: string
  readonly name?: string
  readonly label?: string
  readonly isRequired?: true
  readonly isDisabled?: true
  readonly options?: number
}

/** Runs in pages: describes the page. Self-contained, because its source text is sent. */
export function describeDocument({ maxTextLength }: { readonly maxTextLength: number }, dom: DomHelpers): PageDescription {
  const maxHeadings = 50
  const maxLandmarks = 30
  const maxForms = 20
  const maxFields = 30
  const fieldCss = 'input:not([type=hidden]), select, textarea'

  const first = (css: string, max: number, root: Document | Element = document): readonly Element[] => {
    const found = dom.all(root, css)
    const elements: Element[] = []
    for (let i = 0; i < found.length && i < max; i++) {
      const element = found[i]
      if (element !== undefined) elements.push(element)
    }
    return elements
  }
  const count = (css: string): number => dom.all(document, css).length
  const given = (element: Element | undefined, name: string, max: number): string | undefined => {
    const value = element === undefined ? undefined : dom.attribute(element, name)?.trim()
    return value === undefined || value === '' ? undefined : dom.cut(value, max)
  }
  const fieldOf = (element: Element): FieldDescription => {
    const tag = dom.tagOf(element)
    const selector = dom.selectorOf(element)
    const name = given(element, 'name', 100)
    const label = dom.nameOf(element)
    return {
      ...(selector !== undefined && { selector }),
      type: tag === 'input' ? (given(element, 'type', 30)?.toLowerCase() ?? 'text') : tag,
      ...(name !== undefined && { name }),
      ...(label !== undefined && { label }),
      ...(dom.attribute(element, 'required') !== undefined && { isRequired: true }),
      ...(dom.attribute(element, 'disabled') !== undefined && { isDisabled: true }),
      ...(tag === 'select' && { options: dom.all(element, 'option').length }),
    }
  }
  const formOf = (form: Element): FormDescription => {
    const selector = dom.selectorOf(form)
    const name = given(form, 'name', 100) ?? dom.nameOf(form)
    const action = given(form, 'action', 300)
    const total = dom.all(form, fieldCss).length
    return {
      ...(selector !== undefined && { selector }),
      ...(name !== undefined && { name }),
      method: given(form, 'method', 10)?.toLowerCase() ?? 'get',
      ...(action !== undefined && { action }),
      fields: first(fieldCss, maxFields, form).map(fieldOf),
      ...(total > maxFields && { moreFields: total - maxFields }),
    }
  }
  const levelOf = (heading: Element): number => {
    const level = Number(/^h([1-6])$/.exec(dom.tagOf(heading))?.[1] ?? dom.attribute(heading, 'aria-level') ?? 2)
    return Number.isInteger(level) && level > 0 && level < 100 ? level : 2
  }
  const landmarkRoles = ['banner', 'navigation', 'main', 'complementary', 'contentinfo', 'search', 'region', 'form']
  const landmarks = first('header, nav, main, aside, footer, section, form, [role]', 1_000).flatMap((element) => {
    const role = dom.roleOf(element) ?? ''
    const name =
      given(element, 'aria-label', 100) ??
      (dom.attribute(element, 'aria-labelledby') === undefined ? undefined : dom.nameOf(element))
    if (!landmarkRoles.includes(role) || (role === 'form' && name === undefined)) return []
    return [{ role, ...(name !== undefined && { name }) }]
  })

  const [html] = first('html', 1)
  const [body] = first('body', 1)
  const [title] = first('title', 1)
  const [meta] = first('meta[name="description" i]', 1)
  const language = given(html, 'lang', 40)
  const description = given(meta, 'content', 300)
  const headingCss = 'h1, h2, h3, h4, h5, h6, [role=heading]'
  const [focused] = first(':focus', 1)
  const focus = focused === undefined ? undefined : dom.selectorOf(focused)
  return {
    url: dom.cut(location.href, 2_000),
    title: title === undefined ? '' : dom.cut((title.textContent ?? '').slice(0, 1_000).replace(/\s+/g, ' ').trim(), 300),
    ...(language !== undefined && { language }),
    ...(description !== undefined && { description }),
    loadState: Object.getOwnPropertyDescriptor(Document.prototype, 'readyState')?.get?.call(document) as string,
    viewport: { width: innerWidth, height: innerHeight },
    scroll: { x: Math.round(scrollX), y: Math.round(scrollY), height: html?.scrollHeight ?? 0 },
    counts: {
      elements: count('*'),
      links: count('a[href], area[href]'),
      buttons: count('button, input[type=button], input[type=submit], input[type=reset], [role=button]'),
      images: count('img, [role=img]'),
      frames: count('iframe, frame'),
      headings: count(headingCss),
      forms: count('form'),
      fields: count(fieldCss),
    },
    headings: first(headingCss, maxHeadings).map((each) => ({ level: levelOf(each), text: dom.textOf(each, 120) })),
    landmarks: landmarks.slice(0, maxLandmarks),
    forms: first('form', maxForms).map(formOf),
    looseFields: first(fieldCss, 1_000)
      .filter((each) => Element.prototype.closest.call(each, 'form') === null)
      .slice(0, maxFields)
      .map(fieldOf),
    ...(focus !== undefined && { focus }),
    text: body === undefined ? '' : dom.textOf(body, maxTextLength, 'visible'),
  }
}
