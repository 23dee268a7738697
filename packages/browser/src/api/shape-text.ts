import { maxLevels, type ObjectShape, type Shape } from './shape.ts'

/** Formats a shape like a type: `{ id: integer, tags?: string[] }`, with fewer levels if it would be longer than `max`. */
export function shapeText(shape: Shape, max = 1_200): string {
  for (let levels = maxLevels; levels > 0; levels--) {
    const text = textOf(shape, levels)
    if (text.length <= max) return text
  }
  const shortest = textOf(shape, 0)
  return shortest.length <= max ? shortest : `${shortest.slice(0, max - 1)}…`
}

function textOf(shape: Shape, levels: number): string {
  return alternativesOf(shape, levels).join(' | ')
}

function alternativesOf({ scalars, format, object, items }: Shape, levels: number): readonly string[] {
  const alternatives = [
    ...(object === undefined ? [] : [objectText(object, levels)]),
    ...(items === undefined ? [] : [arrayText(items, levels)]),
    ...scalars.filter((each) => each !== 'null').map((each) => (each === 'string' ? (format ?? each) : each)),
    ...(scalars.includes('null') ? ['null'] : []),
  ]
  return alternatives.length === 0 ? ['unknown'] : alternatives
}

function arrayText(items: Shape, levels: number): string {
  const alternatives = alternativesOf(items, levels)
  return alternatives.length === 1 ? `${alternatives[0]}[]` : `(${alternatives.join(' | ')})[]`
}

function objectText({ fields, keyed, isCut }: ObjectShape, levels: number): string {
  if (fields.size === 0 && keyed === undefined) return isCut ? '{ … }' : '{}'
  if (levels <= 0) return '{ … }'
  const parts = [...fields]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { shape, isOptional }]) => `${nameText(name)}${isOptional ? '?' : ''}: ${textOf(shape, levels - 1)}`)
  if (keyed !== undefined) parts.push(`[id]: ${textOf(keyed, levels - 1)}`)
  if (isCut) parts.push('…')
  return `{ ${parts.join(', ')} }`
}

function nameText(name: string): string {
  return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(name) ? name : JSON.stringify(name)
}
