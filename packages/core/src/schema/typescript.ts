import { isRecord } from '../base/record.ts'
import type { JsonSchema, Tool } from '../tool/tool.ts'
import { blockComment, indented, propertyName } from './typescript/text.ts'
import { TypeNames } from './typescript/type-names.ts'
import { type TypeBudget, TypeWriter } from './typescript/type-writer.ts'

/** A tool as a script calls it. */
export interface ToolDeclaration {
  readonly tool: Tool
  /** The names that lead to it: `['github', 'create_issue']` for `tools.github.create_issue`. */
  readonly path: readonly [string] | readonly [string, string]
  /** Schema of earlier results, for a tool without an output schema. */
  readonly observed?: JsonSchema | undefined
}

const budget: TypeBudget = { depth: 24, characters: 16_000 }
const longestDescription = 2_000

/**
 * Declares tools in TypeScript: a signature with its description for each, and the named types that they share. The same text for
 * the same tools; a schema that is too large is shortened to `unknown`.
 */
export function declarationsOf(tools: readonly ToolDeclaration[], limits: TypeBudget = budget): string {
  const names = new TypeNames()
  const servers = new Map<string, { signature: string | undefined; members: string[] }>()
  for (const declaration of tools) {
    const [first, second] = declaration.path
    const server = servers.get(first) ?? { signature: undefined, members: [] }
    servers.set(first, server)
    if (second === undefined) server.signature = methodOf(first, declaration, names, limits)
    else server.members.push(methodOf(second, declaration, names, limits))
  }
  const members = [...servers].flatMap(([name, { signature, members: inner }]) => [
    ...(signature === undefined ? [] : [signature]),
    ...(inner.length === 0 ? [] : [`${propertyName(name)}: {${inner.map((member) => indented(`\n${member}`)).join('')}\n}`]),
  ])
  const all = members.map((member) => indented(`\n${member}`)).join('')
  return [...names.declarations(), `declare const tools: {${all}\n}`].join('\n')
}

function methodOf(name: string, { tool, observed }: ToolDeclaration, names: TypeNames, limits: TypeBudget): string {
  const comment = blockComment(tool.description ?? tool.title ?? '', longestDescription)
  const args = argumentsOf(tool, names, limits)
  return `${comment}${propertyName(name)}(${args}): Promise<${outputOf(tool, observed, names, limits)}>`
}

function argumentsOf({ inputSchema }: Tool, names: TypeNames, limits: TypeBudget): string {
  const hasArguments = Object.keys(inputSchema).some((keyword) => !plain.has(keyword)) || hasMembers(inputSchema)
  if (!hasArguments) return ''
  const { text } = new TypeWriter(inputSchema, { names, use: 'argument', budget: limits }).type(inputSchema, inputSchema)
  const isRequired = Array.isArray(inputSchema.required) && inputSchema.required.length > 0
  return `args${isRequired ? '' : '?'}: ${text}`
}

/** Keywords that do not add arguments. */
const plain = new Set(['type', 'properties', 'required', 'title', 'description', '$schema', '$id', '$defs', 'definitions'])

const hasMembers = ({ properties, required }: JsonSchema): boolean =>
  (isRecord(properties) && Object.keys(properties).length > 0) || (Array.isArray(required) && required.length > 0)

function outputOf({ outputSchema }: Tool, observed: JsonSchema | undefined, names: TypeNames, limits: TypeBudget): string {
  if (outputSchema !== undefined)
    return new TypeWriter(outputSchema, { names, use: 'result', budget: limits }).type(outputSchema, outputSchema).text
  if (observed === undefined) return 'unknown'
  return `/* observed, not guaranteed */ ${new TypeWriter(observed, { names, use: 'result', budget: limits }).type(observed, observed).text}`
}
