import type { Shape } from './shape.ts'

/** JSON Schema (2020-12) that every observed value satisfies. */
export type Schema = { readonly [key: string]: unknown }

export function shapeSchema(shape: Shape): Schema {
  const { scalars, format, object, items } = shape
  const types = [...scalars, ...(object === undefined ? [] : ['object']), ...(items === undefined ? [] : ['array'])]
  if (types.length === 0) return {}
  return {
    type: types.length === 1 ? types[0] : types,
    ...(format !== undefined && { format }),
    ...(object !== undefined && object.fields.size > 0 && fieldSchemas(object.fields)),
    // Covers names that were not kept, too.
    ...(object?.keyed !== undefined && !object.isCut && { additionalProperties: shapeSchema(object.keyed) }),
    ...(items !== undefined && placesIn(items) && { items: shapeSchema(items) }),
  }
}

function placesIn({ scalars, object, items }: Shape): boolean {
  return scalars.length > 0 || object !== undefined || items !== undefined
}

function fieldSchemas(fields: NonNullable<Shape['object']>['fields']): Schema {
  const sorted = [...fields].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const required = sorted.filter(([, { isOptional }]) => !isOptional).map(([name]) => name)
  return {
    properties: Object.fromEntries(sorted.map(([name, { shape }]) => [name, shapeSchema(shape)])),
    ...(required.length > 0 && { required }),
  }
}
