import { Failure } from '@unfold-mcp/core'

/** Limits on one message, so that no client can exhaust the process. */
export interface MessageLimits {
  /** Array items and object members on all levels together. */
  readonly elements: number
  readonly depth: number
}

export const defaultMessageLimits: MessageLimits = { elements: 100_000, depth: 100 }

/**
 * Throws for a value that is too large, too deep, or contains an infinite number. Not recursive, so depth cannot exhaust the stack.
 */
export function checkSize(value: unknown, { elements, depth }: MessageLimits): void {
  if (typeof value !== 'object' || value === null) return
  let count = 0
  let level: object[] = [value]
  for (let at = 1; level.length > 0; at++) {
    if (at > depth) throw tooLarge('depth', depth)
    const next: object[] = []
    for (const node of level) {
      const members = Array.isArray(node) ? node : Object.values(node)
      count += members.length
      if (count > elements) throw tooLarge('elements', elements)
      for (const member of members) {
        if (typeof member === 'object' && member !== null) next.push(member)
        // JSON would turn it into null, and the tool would get a value that the client did not send.
        else if (member === Number.POSITIVE_INFINITY || member === Number.NEGATIVE_INFINITY) throw endless()
      }
    }
    level = next
  }
}

// Shorter texts parse in no time.
const longText = 16_384

/** Estimates the size of JSON text before it is parsed: parsing millions of members would block all other clients. */
export function checkText(text: string, { elements, depth }: MessageLimits): void {
  if (text.length < longText) return
  let separators = 0
  let nesting = 0
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '"') at = endOfString(text, at)
    else if (char === ',' && ++separators > elements) throw tooLarge('elements', elements)
    else if ((char === '[' || char === '{') && ++nesting > depth) throw tooLarge('depth', depth)
    else if (char === ']' || char === '}') nesting--
  }
}

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0
    while (text[end - 1 - escapes] === '\\') escapes++
    if (escapes % 2 === 0) return end
  }
  return text.length
}

function endless(): Failure {
  const problem = 'A number is out of range'
  return new Failure('invalid_request', `${problem}. Send a smaller one, or send it as text.`, { problem })
}

function tooLarge(what: 'elements' | 'depth', limit: number): Failure {
  const message =
    what === 'depth'
      ? `The request is nested more than ${limit} levels deep. Flatten the arguments.`
      : `The request has more than ${limit} elements. Send fewer at once.`
  return new Failure('arguments_too_large', message, { limit, what })
}
