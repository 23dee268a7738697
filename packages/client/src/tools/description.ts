import {
  exampleOf,
  facetOf,
  isRecord,
  isTool,
  printable,
  signature,
  type Tool,
  type ToolDescription,
  toolTokens,
} from '@unfold-mcp/core'
import { ClientError } from '../errors/errors.ts'

/** Everything to know about a tool before calling it. */
export interface Description extends Omit<ToolDescription, 'identity' | 'examples'> {
  /** Valid arguments. */
  readonly examples: readonly Readonly<Record<string, unknown>>[]
  /** Source of the description: the server, or this client from the definition of the tool. */
  readonly by: 'server' | 'client'
}

/** Describes a tool from its definition. */
export function describeTool(tool: Tool): Description {
  const example = exampleOf(tool.inputSchema)
  return {
    tool,
    signature: signature(tool),
    examples: isRecord(example) ? [example] : [],
    facet: facetOf(tool),
    tokens: tokensOf(tool),
    listed: true,
    by: 'client',
  }
}

function tokensOf(tool: Tool): number {
  try {
    return toolTokens(tool)
  } catch {
    // Nested deeper than the stack.
    return Number.POSITIVE_INFINITY
  }
}

/** Parses the result of `tools/describe`. */
export function parseDescription(name: string, value: unknown): Description {
  const tool = isRecord(value) ? value.tool : undefined
  if (!isRecord(value) || !isTool(tool)) {
    const problem = `The description of "${printable(name)}" is invalid.`
    throw new ClientError('protocol', `${problem} This is a bug in the server.`, { problem })
  }
  const own = describeTool(tool)
  const { examples, tokens, group, version, after, listed } = value
  return {
    ...own,
    examples: Array.isArray(examples) ? examples.filter(isRecord) : own.examples,
    tokens: typeof tokens === 'number' ? tokens : own.tokens,
    ...(typeof group === 'string' && { group }),
    ...(typeof version === 'string' && { version }),
    ...(typeof after === 'string' && { after }),
    ...texts('tags', value.tags),
    ...texts('aliases', value.aliases),
    listed: listed !== false,
    by: 'server',
  }
}

const texts = (key: 'tags' | 'aliases', value: unknown): { readonly [K in 'tags' | 'aliases']?: readonly string[] } =>
  Array.isArray(value) ? { [key]: value.filter((each) => typeof each === 'string') } : {}
