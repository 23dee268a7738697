import { nearest, nearestHint, type Problem, printable, type Tool } from '@unfold-mcp/core'
import { ClientError } from '../errors/errors.ts'
import { validateArguments } from '../schema/validate.ts'
import type { CallOptions } from './call.ts'
import type { KnownTools } from './known-tools.ts'

/** Returns a tool; throws `unknown_tool` when it is not listed. */
export async function listedTool(tools: KnownTools, name: string): Promise<Tool> {
  const known = tools.named(name)
  return known !== undefined && tools.isFresh ? known : ((await tools.find(name)) ?? unknownTool(name, tools.latest ?? []))
}

/** Returns the tool to call after validating the arguments; `undefined` if it is not listed and need not be. */
export async function resolveTool(
  tools: KnownTools,
  name: string,
  args: Readonly<Record<string, unknown>>,
  { validate, unlisted }: CallOptions,
): Promise<Tool | undefined> {
  const tool = tools.named(name) ?? (await tools.find(name))
  if (tool === undefined) return unlisted === true ? undefined : unknownTool(name, tools.latest ?? [])
  if (validate === false || argumentProblems(tool, args).length === 0) return tool
  // The schema may have changed since it was read; only a current one may reject arguments.
  const sure = tools.isFresh ? tool : ((await tools.find(name)) ?? tool)
  const problems = argumentProblems(sure, args)
  if (problems.length === 0) return sure
  const lines = problems.map(({ path, message }) => `  ${path === '' ? 'The arguments' : path} ${message}`).join('\n')
  throw new ClientError('invalid_arguments', `Invalid arguments for ${printable(name)}:\n${lines}`, { tool: name, problems })
}

function unknownTool(name: string, tools: readonly Tool[]): never {
  const names = tools.map((tool) => tool.name)
  const near = nearest(name, names).map((each) => printable(each))
  const hint = names.includes('call_tool')
    ? ' This server does not list all of its tools; { unlisted: true } calls one by name.'
    : ''
  throw new ClientError('unknown_tool', `Unknown tool "${printable(name)}".${nearestHint(near)}${hint}`, { name, nearest: near })
}

const argumentProblems = (tool: Tool, args: unknown): readonly Problem[] => validateArguments(tool, args).problems
