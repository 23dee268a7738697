import { isRecord } from '../base/record.ts'
import type { JsonSchema, Tool } from '../tool/tool.ts'

/** What a search knows of a tool. */
export interface SearchDocument {
  readonly id: string
  /** Where the tool comes from; one source may not take all the first places. */
  readonly source: string
  readonly name: string
  readonly title?: string
  readonly server?: string
  readonly serverDescription?: string
  readonly group?: string
  readonly tags?: readonly string[]
  readonly description?: string
  readonly parameters?: readonly SearchParameter[]
}

export interface SearchParameter {
  readonly name: string
  readonly description?: string
}

/** What is known of a tool besides its definition. Without an id the tool goes by its name. */
export interface DocumentContext {
  readonly id?: string
  readonly source: string
  readonly group?: string
  readonly tags?: readonly string[]
  readonly server?: string
  readonly serverDescription?: string
}

/** The document of a tool. Reads a schema of any size in bounded time: what lies deep or late in it is left out. */
export function documentOf(tool: Tool, { id = tool.name, ...whereabouts }: DocumentContext): SearchDocument {
  const { name, description } = tool
  const title = tool.title ?? tool.annotations?.title
  return {
    ...whereabouts,
    id,
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    parameters: parametersOf(tool.inputSchema),
  }
}

/** No more is read than this, however much there is. */
const maxParameters = 64
const maxSchemas = 500
const maxDepth = 3

function parametersOf(schema: JsonSchema): readonly SearchParameter[] {
  const found: SearchParameter[] = []
  let schemas = 0
  // Breadth first, so that one deep object cannot crowd out its neighbours.
  let level: unknown[] = [schema]
  for (let depth = 0; depth <= maxDepth; depth++) {
    const inside: unknown[] = []
    for (const each of level) {
      if (!isRecord(each)) continue
      if (++schemas > maxSchemas) return found
      if (isRecord(each.properties)) {
        for (const name in each.properties) {
          if (found.length === maxParameters) return found
          const property = each.properties[name]
          found.push({ name, ...descriptionOf(property) })
          inside.push(property)
        }
      }
      inside.push(
        each.items,
        ...[each.anyOf, each.oneOf, each.allOf].flatMap((branches) => (Array.isArray(branches) ? branches.slice(0, 8) : [])),
      )
    }
    level = inside
  }
  return found
}

function descriptionOf(property: unknown): { description?: string } {
  return isRecord(property) && typeof property.description === 'string' ? { description: property.description } : {}
}
