import type { EventOf } from './protocol.ts'
import { shortened } from './text.ts'

export type RemoteObject = EventOf<'Runtime.consoleAPICalled'>['args'][number]
type Preview = NonNullable<RemoteObject['preview']>
type StackTrace = NonNullable<EventOf<'Runtime.consoleAPICalled'>['stackTrace']>
type CallFrame = StackTrace['callFrames'][number]

/** Maximum size of a console line and of a stack. */
export const logTextLimit = 8 * 1024
const maxFrames = 50

/** Formats the arguments of a console call like a console. */
export function lineOf(args: readonly RemoteObject[]): string {
  const [first, ...others] = args
  if (first === undefined) return ''
  const parts: string[] = []
  let rest: readonly RemoteObject[] = args
  if (first.type === 'string' && String(first.value).includes('%')) {
    const { text, used } = formatted(shortened(String(first.value), logTextLimit), others)
    parts.push(text)
    rest = others.slice(used)
  }
  let length = 0
  for (const each of rest) {
    if (length > logTextLimit) break
    const text = textOf(each)
    length += text.length
    parts.push(text)
  }
  return shortened(parts.join(' '), logTextLimit)
}

/** Formats a remote value. */
export function textOf(value: RemoteObject): string {
  if (value.type === 'string') return shortened(String(value.value), logTextLimit)
  if (value.unserializableValue !== undefined) return value.unserializableValue
  if (value.type === 'undefined') return 'undefined'
  if (value.subtype === 'null') return 'null'
  if (value.type === 'number' || value.type === 'boolean') return String(value.value)
  if (value.subtype === 'error' || value.type === 'symbol' || value.type === 'function') return described(value)
  return value.preview === undefined ? described(value) : previewed(value.preview)
}

/** Formats a stack trace like V8. */
export function stackOf(trace: StackTrace | undefined): string | undefined {
  const lines: string[] = []
  for (let at = trace; at !== undefined && lines.length < maxFrames; at = at.parent) {
    if (at !== trace) lines.push(`    -- ${at.description ?? 'async'} --`)
    for (const frame of at.callFrames.slice(0, maxFrames)) lines.push(`    at ${frameOf(frame)}`)
  }
  return lines.length === 0 ? undefined : shortened(lines.join('\n'), logTextLimit)
}

function frameOf({ functionName, url, lineNumber, columnNumber }: CallFrame): string {
  const place = `${shortened(url, 500)}:${lineNumber + 1}:${columnNumber + 1}`
  return functionName === '' ? place : `${shortened(functionName, 200)} (${place})`
}

function described({ description, type }: RemoteObject): string {
  return shortened(description ?? type, logTextLimit)
}

/** Fills placeholders (`%s`, `%d` …) and returns the number of values used. */
function formatted(text: string, values: readonly RemoteObject[]): { readonly text: string; readonly used: number } {
  let used = 0
  const filled = text.replace(/%([sdifoOc%])/g, (whole, kind: string) => {
    if (kind === '%') return '%'
    const value = values[used]
    if (value === undefined) return whole
    used += 1
    // CSS for the console only.
    if (kind === 'c') return ''
    if (kind === 'd' || kind === 'i') return String(Math.trunc(Number(value.value ?? value.unserializableValue)))
    if (kind === 'f') return String(Number(value.value ?? value.unserializableValue))
    return textOf(value)
  })
  return { text: filled, used }
}

function previewed(preview: Preview): string {
  const { subtype, description = 'Object', overflow, entries, properties } = preview
  const more = overflow ? ['…'] : []
  if (entries !== undefined) {
    const shown = entries.map(({ key, value }) =>
      key === undefined ? previewed(value) : `${previewed(key)} => ${previewed(value)}`,
    )
    return `${description} {${[...shown, ...more].join(', ')}}`
  }
  if (preview.type !== 'object') return preview.type === 'string' ? quoted(description) : description
  if (subtype === 'error' || subtype === 'date' || subtype === 'regexp' || subtype === 'node') return description
  const shown = properties.map(({ name, value = '', type, subtype: kind }) => {
    const text = type === 'string' ? quoted(value) : type === 'function' ? 'ƒ' : kind === 'null' ? 'null' : value
    return subtype === 'array' && /^\d+$/.test(name) ? text : `${name}: ${text}`
  })
  const inside = [...shown, ...more].join(', ')
  if (subtype === 'array') return `[${inside}]`
  return description === 'Object' ? `{${inside}}` : `${description} {${inside}}`
}

function quoted(text: string): string {
  return `'${text}'`
}
