import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server'
import type { ToolContext } from '../../tool/context.ts'
import { ToolError } from '../../tool/result.ts'
import { partsOf } from '../calling/context.ts'
import { runProgram } from './run-code.ts'
import type { StoredScript } from './stored-script.ts'

// A script may call one that is stored. Each depth has its own workers, because a script keeps its worker while it waits.
const maxDepth = 1

/** Runs a stored script over the tools of the client that made a call. `ctx`: the context of that call, not a copy of it. */
export async function runScript(
  script: StoredScript,
  input: Readonly<Record<string, unknown>>,
  ctx: ToolContext,
): Promise<CallToolResult | InputRequiredResult> {
  const discovery = partsOf(ctx)
  if (discovery === undefined) throw new Error(`The script "${script.name}" can run only in a call of a served toolbox.`)
  if ((discovery.call.scriptDepth ?? 0) > maxDepth)
    throw new ToolError(`${script.name} is a script, and a script that was called by another script cannot call a third one.`)
  return runProgram({ code: script.code, input }, discovery, { signal: ctx.signal, stored: script })
}
