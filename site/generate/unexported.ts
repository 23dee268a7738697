import { makeRecursiveVisitor, type ProjectReflection, type SomeType } from 'typedoc'

// Type-level helpers that nobody needs to name, and schemas whose inferred type is exported.
const helpers = new Set([
  'server FieldsOf',
  'server Flat',
  'server Given',
  'server InputOf',
  'server InputOfMode',
  'server Immutable',
  'server Declared',
  'server FromJsonSchema',
  'server OutputOf',
  'gateway commandServer',
  'gateway configSchema',
  'gateway recordSchema',
  'gateway scriptServer',
  'gateway urlServer',
])

/** Types of our packages that a documented signature mentions but no package exports, each with a place that mentions it. */
export function unexportedTypes(project: ProjectReflection): readonly string[] {
  const found = new Map<string, string>()
  for (const reflection of Object.values(project.reflections)) {
    const visitor = makeRecursiveVisitor({
      reference(type) {
        if (type.reflection !== undefined || type.refersToTypeParameter || !type.package?.startsWith('@unfold-mcp/')) return
        const name = `${type.package.slice('@unfold-mcp/'.length)} ${type.name}`
        if (!helpers.has(name) && !found.has(name)) found.set(name, `${type.name}, used by ${reflection.getFullName()}`)
      },
    })
    for (const type of typesOf(reflection)) type.visit(visitor)
  }
  return [...found.values()]
}

function typesOf(reflection: object): readonly SomeType[] {
  const {
    type,
    default: preset,
    extendedTypes = [],
    implementedTypes = [],
  } = reflection as {
    readonly type?: SomeType
    readonly default?: SomeType
    readonly extendedTypes?: readonly SomeType[]
    readonly implementedTypes?: readonly SomeType[]
  }
  return [type, preset, ...extendedTypes, ...implementedTypes].filter((each) => each !== undefined)
}
