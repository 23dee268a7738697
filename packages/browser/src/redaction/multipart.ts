import { isRedactedValue, marker, type OnRedacted } from './marker.ts'
import { secrecyOf } from './names.ts'

const partName = /\bname="([^"\r\n]{1,200})"/g
const blankLine = /\r?\n\r?\n/g
const nextPart = /\r?\n--/g

/** Redacts the parts of a multipart form with secret names. */
export function redactInMultipart(text: string, onRedacted: OnRedacted): string {
  let clean = ''
  let kept = 0
  const names = new RegExp(partName)
  for (let match = names.exec(text); match !== null; match = names.exec(text)) {
    const secrecy = secrecyOf(match[1] ?? '')
    if (secrecy !== 'always' && secrecy !== 'data') continue
    const start = endOf(blankLine, text, names.lastIndex)
    if (start === undefined) break
    nextPart.lastIndex = start
    const end = nextPart.exec(text)?.index ?? text.length
    names.lastIndex = end
    const value = text.slice(start, end)
    if (value === '' || isRedactedValue(value)) continue
    clean += text.slice(kept, start) + marker
    kept = end
    onRedacted('field')
  }
  return clean + text.slice(kept)
}

function endOf(pattern: RegExp, text: string, from: number): number | undefined {
  pattern.lastIndex = from
  return pattern.exec(text) === null ? undefined : pattern.lastIndex
}
