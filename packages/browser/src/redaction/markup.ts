import { isRedactedValue, marker, type OnRedacted } from './marker.ts'
import { type Secrecy, secrecyOf } from './names.ts'

interface Attribute {
  readonly name: string
  readonly value: string
  readonly start: number
}

const tagName = /<([A-Za-z][\w:.-]{0,63})/g
// One attribute or the end of the tag; unambiguous, so matching is linear.
const attribute = /\s*(?:([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)("?)|'([^']*)('?)|([^\s"'<>=]+)))?|(\/?>)|([^\s]))/y
const naming = new Set(['name', 'id', 'autocomplete', 'http-equiv', 'property', 'itemprop', 'key', 'data-name'])
const holding = new Set(['value', 'content', 'data-value', 'defaultvalue'])
const isSecret = (secrecy: Secrecy): boolean => secrecy === 'always' || secrecy === 'data'

/** Redacts values of secret fields in HTML or XML: `<input name="csrf" value="…">`, `<password>…</password>`. */
export function redactInMarkup(text: string, onRedacted: OnRedacted): string {
  let clean = ''
  let kept = 0
  const hide = (start: number, value: string): void => {
    if (value.trim() === '' || isRedactedValue(value)) return
    clean += text.slice(kept, start) + marker
    kept = start + value.length
    onRedacted('markup')
  }
  const tags = new RegExp(tagName)
  for (let tag = tags.exec(text); tag !== null; tag = tags.exec(text)) {
    const { attributes, end, isClosed } = attributesFrom(text, tags.lastIndex)
    const isPassword = attributes.some(({ name, value }) => name === 'type' && value.toLowerCase() === 'password')
    if (isPassword || attributes.some(({ name, value }) => naming.has(name) && isSecret(secrecyOf(value)))) {
      for (const { name, value, start } of attributes) if (holding.has(name)) hide(start, value)
    }
    tags.lastIndex = end
    // Part of its name was redacted; the rest could look like another name.
    if (text[tag.index + tag[0].length] === '[') continue
    if (!isClosed || !isSecret(secrecyOf((tag[1] ?? '').replace(/^.*:/, '')))) continue
    const next = text.indexOf('<', end)
    hide(end, text.slice(end, next === -1 ? text.length : next))
  }
  return clean + text.slice(kept)
}

/** Parses the attributes of a tag without backtracking, so that hostile markup stays linear. */
function attributesFrom(text: string, from: number): { attributes: Attribute[]; end: number; isClosed: boolean } {
  const attributes: Attribute[] = []
  attribute.lastIndex = from
  for (let match = attribute.exec(text); match !== null; match = attribute.exec(text)) {
    const [all, name, double, closingDouble, single, closingSingle, plain, close, other] = match
    const end = attribute.lastIndex
    if (close !== undefined) return { attributes, end, isClosed: close === '>' }
    // Another tag begins before this one ends.
    if (other === '<') return { attributes, end: end - 1, isClosed: false }
    const value = double ?? single ?? plain
    if (name === undefined || value === undefined) continue
    const closing = (closingDouble ?? closingSingle ?? '').length
    attributes.push({ name: name.toLowerCase(), value, start: match.index + all.length - closing - value.length })
    attribute.lastIndex = end
  }
  return { attributes, end: text.length, isClosed: false }
}
