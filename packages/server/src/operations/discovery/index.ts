import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server'
import type { ToolEntry } from '../../tool/entry.ts'
import { invalidArguments } from '../../tool/invalid-arguments.ts'
import { type CodeRequest, runCode } from '../scripts/run-code.ts'
import { type CallRequest, callByName } from './call-tool.ts'
import { type DescribeRequest, declareTools } from './declare-tools.ts'
import type { DiscoveryCall } from './discovery-call.ts'
import { type ManageRequest, manageTools } from './manage-tools.ts'
import { describeTools, type SearchRequest, searchTools } from './search-tools.ts'

type Work = (input: never, discovery: DiscoveryCall) => Promise<CallToolResult | InputRequiredResult>

const works: { readonly [tool: string]: Work } = {
  manage_tools: (input: ManageRequest, discovery) => manageTools(input, discovery),
  search_tools: (input: SearchRequest, { runtime, scope, call }) =>
    searchTools(runtime, scope, input, call.signal ?? call.controller?.signal),
  describe_tools: async ({ names, as }: DescribeRequest, { runtime, scope }) =>
    as === 'typescript' ? declareTools(runtime, scope, names) : describeTools(runtime, scope, names),
  call_tool: (input: CallRequest, discovery) => callByName(input, discovery),
  call_tool_read: (input: CallRequest, discovery) => callByName(input, discovery, 'read'),
  call_tool_write: (input: CallRequest, discovery) => callByName(input, discovery, 'write'),
  call_tool_destructive: (input: CallRequest, discovery) => callByName(input, discovery, 'destructive'),
  run_code: (input: CodeRequest, discovery) => runCode(input, discovery),
}

export async function runDiscovery(
  { tool: { name }, input }: ToolEntry,
  discovery: DiscoveryCall,
): Promise<CallToolResult | InputRequiredResult> {
  const checked = await input.check(discovery.call.arguments ?? {})
  if ('problems' in checked) return invalidArguments(name, checked.problems)
  const work = works[name]
  if (work === undefined) throw new Error(`There is no discovery tool "${name}".`)
  return work(checked.value as never, discovery)
}
