import { isRecord } from '../base/record.ts'
import type { JsonSchema, Tool } from '../tool/tool.ts'
import { keyOf } from './query.ts'

/** Searchable fields of a tool. */
export interface SearchDocument {
  readonly id: string
  /** Origin of the tool; the number of matches per source is limited. */
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

/** Search fields besides the definition. Default id: the name. */
export interface DocumentContext {
  readonly id?: string
  readonly source: string
  readonly group?: string
  readonly tags?: readonly string[]
  readonly server?: string
  readonly serverDescription?: string
}

/** Creates the document of a tool. Schemas of any size are read in bounded time. */
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

/** Name without the prefix of its source: "create_issue" for "github__create_issue". */
export function ownName({ name, source }: Pick<SearchDocument, 'name' | 'source'>): string {
  const end = name.indexOf(sourceSeparator)
  return end > 0 && keyOf(name.slice(0, end)) === keyOf(source) ? name.slice(end + sourceSeparator.length) : name
}

const sourceSeparator = '__'

const maxParameters = 64
const maxSchemas = 500
const maxDepth = 3

function parametersOf(schema: JsonSchema): readonly SearchParameter[] {
  const found: SearchParameter[] = []
  let schemas = 0
  // Breadth first, so that one deep object does not displace its siblings.
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
