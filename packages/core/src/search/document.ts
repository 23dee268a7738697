import type { JsonSchema, Tool } from '../tool.ts'

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
export interface Whereabouts {
  readonly id?: string
  readonly source: string
  readonly group?: string
  readonly tags?: readonly string[]
  readonly server?: string
  readonly serverDescription?: string
}

/** The document of a tool. Reads a schema of any size in bounded time: what lies deep or late in it is left out. */
export function documentOf(tool: Tool, { id = tool.name, ...whereabouts }: Whereabouts): SearchDocument {
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

/** A reader looks at no more parameters than this, however many there are. */
const maxParameters = 64
const maxDepth = 3
const maxBranches = 8

function parametersOf(schema: JsonSchema): readonly SearchParameter[] {
  const found: SearchParameter[] = []
  collect(schema, 0, found)
  return found
}

function collect(schema: unknown, depth: number, found: SearchParameter[]): void {
  if (!isSchema(schema) || depth > maxDepth) return
  if (isSchema(schema.properties)) {
    const inside: unknown[] = []
    for (const name in schema.properties) {
      if (found.length >= maxParameters) return
      const property = schema.properties[name]
      found.push({ name, ...descriptionOf(property) })
      inside.push(property)
    }
    // The outer parameters come first, so that one deep object cannot crowd out its neighbours.
    for (const property of inside) collect(property, depth + 1, found)
  }
  collect(schema.items, depth + 1, found)
  for (const keyword of ['anyOf', 'oneOf', 'allOf'] as const) {
    const branches = schema[keyword]
    if (Array.isArray(branches)) for (const branch of branches.slice(0, maxBranches)) collect(branch, depth + 1, found)
  }
}

function descriptionOf(property: unknown): { description?: string } {
  return isSchema(property) && typeof property.description === 'string' ? { description: property.description } : {}
}

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null && !Array.isArray(value)
