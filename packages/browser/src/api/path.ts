import { decodeUri } from '@unfold-mcp/core'
import { isData } from './shape.ts'

const maxSegments = 16

/** Stands for a variable path segment. */
export const variable = '{}'

/** Splits a path; segments that are ids or look like data become `variable`. */
export function segmentsOf(path: string): readonly string[] {
  const parts = path.split('/').filter((part) => part !== '')
  const segments = parts.slice(0, maxSegments).map((part) => (isVariable(part) ? variable : part))
  return parts.length > maxSegments ? [...segments, variable] : segments
}

/** Formats a path: `/api/items/{id}`, with `{id2}` and so on for further variables. */
export function pathText(segments: readonly string[]): string {
  let variables = 0
  const parts = segments.map((segment) => {
    if (segment !== variable) return segment
    variables += 1
    return `{${variableName(variables)}}`
  })
  return `/${parts.join('/')}`
}

export function variableName(place: number): string {
  return place === 1 ? 'id' : `id${place}`
}

function isVariable(segment: string): boolean {
  const text = decodeUri(segment)
  // Names in paths need no escaping, data does. A number may have a file extension.
  return isData(text) || !/^[\p{L}\p{N}._~!$&'()*+,;=:@-]+$/u.test(text) || /^\d+\.[a-z]{1,5}$/i.test(text)
}
