import { isData } from './shape.ts'

const maxSegments = 16

/** What stands for a part of a path that differs from call to call. */
export const variable = '{}'

/** The parts of a path; a part that is an id, or looks like data, is the `variable`. */
export function segmentsOf(path: string): readonly string[] {
  const parts = path.split('/').filter((part) => part !== '')
  const segments = parts.slice(0, maxSegments).map((part) => (isVariable(part) ? variable : part))
  return parts.length > maxSegments ? [...segments, variable] : segments
}

/** A path as a person writes it: `/api/items/{id}`, with `{id2}` and so on for more. */
export function pathText(segments: readonly string[]): string {
  let variables = 0
  const parts = segments.map((segment) => {
    if (segment !== variable) return segment
    variables += 1
    return `{${variableName(variables)}}`
  })
  return `/${parts.join('/')}`
}

/** The name of the first, second … variable of a path. */
export function variableName(place: number): string {
  return place === 1 ? 'id' : `id${place}`
}

function isVariable(segment: string): boolean {
  const text = decoded(segment)
  // Names in paths are plain; what needs escaping is data. A number may carry the ending of a file.
  return isData(text) || !/^[\p{L}\p{N}._~!$&'()*+,;=:@-]+$/u.test(text) || /^\d+\.[a-z]{1,5}$/i.test(text)
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
