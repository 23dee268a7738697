import type { JsonSchema } from '@unfold-mcp/core'

const keyword = 'x-mcp-header'
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/u
const literal = new Set(['const', 'enum', 'default', 'examples'])

/** What is wrong with the headers that a schema asks clients to send, if anything is. The schema is within its budget. */
export function headerProblem(schema: JsonSchema): string | undefined {
  const names = new Set<string>()
  const visit = (node: unknown, isProperty: boolean, isReachable: boolean): string | undefined => {
    if (typeof node !== 'object' || node === null) return undefined
    if (!Array.isArray(node) && keyword in node) {
      const { [keyword]: header, type } = node as { [keyword]?: unknown; type?: unknown }
      if (!isProperty) return `${keyword} stands where no property is`
      if (typeof header !== 'string' || !token.test(header)) return `${keyword} is no name of a header`
      if (type !== 'string' && type !== 'integer' && type !== 'boolean') return `${keyword} stands on what is no simple value`
      if (names.has(header.toLowerCase())) return `two properties have the header ${header}`
      names.add(header.toLowerCase())
    }
    for (const [key, child] of Object.entries(node)) {
      if (literal.has(key)) continue
      const isProperties = isReachable && key === 'properties' && typeof child === 'object' && child !== null
      const found = isProperties ? Object.values(child).map((each) => visit(each, true, true)) : [visit(child, false, false)]
      const problem = found.find((each) => each !== undefined)
      if (problem !== undefined) return problem
    }
    return undefined
  }
  return JSON.stringify(schema).includes(`"${keyword}"`) ? visit(schema, false, true) : undefined
}
