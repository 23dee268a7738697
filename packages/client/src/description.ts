import { exampleOf, facetOf, isRecord, printable, signature, type Tool, toolTokens } from '@unfold-mcp/core'
import { ClientError } from './errors.ts'

/** All there is to know about a tool before calling it. */
export interface Description {
  readonly tool: Tool
  /** How it is called, on one line. */
  readonly signature: string
  /** Arguments that it takes. */
  readonly examples: readonly Readonly<Record<string, unknown>>[]
  readonly facet: 'read-only' | 'destructive' | 'write'
  /** About how many tokens its definition costs a model. */
  readonly tokens: number
  readonly group?: string
  readonly tags?: readonly string[]
  readonly version?: string
  /** Names it had before. */
  readonly aliases?: readonly string[]
  /** The tool that should be called before it. */
  readonly after?: string
  /** Whether this client's list has it now. */
  readonly listed: boolean
  /** Who described it: the server, or this client from the tool's definition. */
  readonly by: 'server' | 'client'
}

/** What a client can tell of a tool by itself. */
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
    // Nested deeper than the stack: more than anybody would read.
    return Number.POSITIVE_INFINITY
  }
}

/** What a server answered to `tools/describe`. */
export function parseDescription(name: string, value: unknown): Description {
  const tool = isRecord(value) ? value.tool : undefined
  if (!isRecord(value) || !isTool(tool)) {
    const problem = `The description of "${printable(name)}" is none.`
    throw new ClientError('protocol', `${problem} The server is at fault.`, { problem })
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

const isTool = (value: unknown): value is Tool => isRecord(value) && typeof value.name === 'string' && isRecord(value.inputSchema)
