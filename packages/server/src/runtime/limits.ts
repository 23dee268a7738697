import { Failure } from '@unfold-mcp/core'

/** Bounds on what one message may hold, so that no client can exhaust the process for the others. */
export interface MessageLimits {
  /** Array items and object members, all levels together. */
  readonly elements: number
  readonly depth: number
}

export const defaultMessageLimits: MessageLimits = { elements: 100_000, depth: 100 }

/** Refuses a value that is too large or too deep; walks it without recursion, so depth cannot exhaust the stack. */
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
      for (const member of members) if (typeof member === 'object' && member !== null) next.push(member)
    }
    level = next
  }
}

function tooLarge(what: 'elements' | 'depth', limit: number): Failure {
  const message =
    what === 'depth'
      ? `The request is nested more than ${limit} levels deep. Send flatter arguments.`
      : `The request holds more than ${limit} elements. Send less at once.`
  return new Failure('arguments_too_large', message, { limit, what })
}
