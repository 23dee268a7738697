import type { Selectors } from '../../records/records.ts'
import { truncate } from '../../reply/reply.ts'
import { isRedacted, literal } from './literal.ts'

// Longer texts were probably truncated when recorded, and would match nothing.
const maxNameLength = 150
const maxCssLength = 2_000

// Roles in Playwright's types; others would not compile.
const roles = new Set(
  (
    'alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox ' +
    'complementary contentinfo definition deletion dialog directory document emphasis feed figure form generic grid gridcell ' +
    'group heading img insertion link list listbox listitem log main marquee math menu menubar menuitem menuitemcheckbox ' +
    'menuitemradio meter navigation none note option paragraph presentation progressbar radio radiogroup region row rowgroup ' +
    'rowheader scrollbar search searchbox separator slider spinbutton status strong subscript superscript switch tab table ' +
    'tablist tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem'
  ).split(' '),
)

export function canBeFound(selectors: Selectors): boolean {
  return locators(selectors).length > 0
}

/** Returns code that finds an element: by the best selector, or by its position if that is not unique. */
export function elementCode(page: string, selectors: Selectors): string {
  return `one(${locators(selectors)
    .map((way) => `${page}.${way}`)
    .join(', ')})`
}

/** Names an element. Untrusted text of the page. */
export function nameOf({ role, label, placeholder, text, testId, css }: Selectors): string {
  if (role !== undefined && role.name !== '') return `${truncate(role.role, 20)} “${truncate(role.name, 60)}”`
  const name = [label, placeholder, text, testId].find((each) => each !== undefined && each !== '')
  return `“${truncate(name ?? css, 60)}”`
}

function locators(selectors: Selectors): readonly string[] {
  return [bestLocator(selectors), cssLocator(selectors)].filter((way) => way !== undefined)
}

function bestLocator({ testId, role, label, placeholder, text }: Selectors): string | undefined {
  if (isUsable(testId)) return `getByTestId(${literal(testId)})`
  if (role !== undefined && roles.has(role.role) && isUsable(role.name))
    return `getByRole(${literal(role.role)}, { name: ${literal(role.name)}, exact: true })`
  if (isUsable(label)) return `getByLabel(${literal(label)}, { exact: true })`
  if (isUsable(placeholder)) return `getByPlaceholder(${literal(placeholder)}, { exact: true })`
  if (isUsable(text)) return `getByText(${literal(text)}, { exact: true })`
  return undefined
}

function cssLocator({ testId, css, xpath }: Selectors): string | undefined {
  // Would repeat the test id.
  if (isUsable(testId) && css.startsWith('[data-testid=')) return undefined
  // With an explicit engine prefix, so that the selector cannot be misinterpreted.
  if (css !== '' && css.length <= maxCssLength) return `locator(${literal(`css=${css}`)})`
  if (xpath !== '' && xpath.length <= maxCssLength) return `locator(${literal(`xpath=${xpath}`)})`
  return undefined
}

function isUsable(text: string | undefined): text is string {
  return text !== undefined && text.trim() !== '' && text.length <= maxNameLength && !text.endsWith('…') && !isRedacted(text)
}
