import { type CallToolResult, type ContentBlock, type Progress, UrlElicitationRequiredError } from '@modelcontextprotocol/client'
import { type Problem, printable, type Tool } from '@unfold-mcp/core'
import type { Clock } from './clock.ts'
import type { Asking } from './elicitation.ts'
import { type ClientError, cancelled, timedOut } from './errors.ts'
import type { Link } from './link.ts'
import { type SavedFile, type SaveTo, saved } from './saving.ts'
import { validateOutput } from './validate.ts'

export interface CallOptions {
  /** How long nothing may be heard of the call: each report of progress begins it anew, and a question to a person stops it. */
  readonly timeoutMs?: number
  /** How long it may take in all, whatever is reported. */
  readonly maxTimeoutMs?: number
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: Progress) => void
  /** A folder for parts of the result that are large or no text; links to the files take their places. */
  readonly saveTo?: string | SaveTo
  /** `false` sends the arguments as they are, without looking at the tool's schema. */
  readonly validate?: boolean
  /** Also a tool that is not listed: servers may have tools that they do not show. */
  readonly unlisted?: boolean
}

/** What a tool answered. One that failed says so in `isError`; that is an answer as well. */
export interface CallResult {
  readonly content: readonly ContentBlock[]
  readonly structuredContent?: unknown
  readonly isError: boolean
  readonly _meta?: Readonly<Record<string, unknown>>
  /** What was written to files. */
  readonly files: readonly SavedFile[]
  /** Where the structured content is not what the tool's own schema promises. */
  readonly outputProblems: readonly Problem[]
}

export interface Call {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
  readonly tool: Tool | undefined
  readonly clock: Clock
  readonly asking: Asking | undefined
  readonly options: CallOptions
}

const defaultTimeoutMs = 60_000
const defaultMaxMs = 600_000
// What a timer can hold, with room for the one that the SDK sets for itself.
const longestMs = 2 ** 31 - 100_000

/** Calls a tool and waits for what it answers. */
export async function callTool(link: Link, call: Call): Promise<CallResult> {
  const { name, tool, options } = call
  const answer = await answered(link, call)
  const outputProblems = tool === undefined ? [] : problemsIn(tool, answer)
  const { result, files } =
    options.saveTo === undefined ? { result: answer, files: [] } : await saved(name, answer, options.saveTo)
  const { content, structuredContent, isError = false, _meta } = result
  return {
    content,
    ...(structuredContent !== undefined && { structuredContent }),
    isError,
    ...(_meta !== undefined && { _meta }),
    files,
    outputProblems,
  }
}

async function answered(link: Link, call: Call): Promise<CallToolResult> {
  try {
    return await timed(link, call)
  } catch (error) {
    const { asking, options } = call
    const cause = error instanceof Error ? error.cause : undefined
    // A session-era server may want a person to visit an address first, and to be called again after that.
    if (!(cause instanceof UrlElicitationRequiredError) || asking === undefined) throw error
    const { signal = new AbortController().signal } = options
    for (const question of cause.elicitations.slice(0, 10))
      if ((await asking.ask(question, signal)).action !== 'accept') throw error
    return timed(link, call)
  }
}

async function timed(link: Link, { name, args, tool, clock, asking, options }: Call): Promise<CallToolResult> {
  const { signal, onProgress } = options
  const timeoutMs = Math.min(options.timeoutMs ?? defaultTimeoutMs, longestMs)
  const maxMs = Math.min(
    Math.max(options.maxTimeoutMs ?? defaultMaxMs, options.maxTimeoutMs === undefined ? timeoutMs : 0),
    longestMs,
  )
  const what = `Calling ${printable(name)}`
  const stop = new AbortController()
  let failure: ClientError | undefined
  const end = (reason: ClientError): void => {
    failure ??= reason
    stop.abort(reason.message)
  }
  const abort = (): void => end(cancelled(what, signal?.reason))
  if (signal?.aborted === true) throw cancelled(what, signal.reason)
  signal?.addEventListener('abort', abort)
  const offMax = clock.after(maxMs, () => end(timedOut(what, maxMs, 'Allow more in all with maxTimeoutMs.')))
  let offIdle: () => void = () => undefined
  const arm = (): void => {
    offIdle()
    offIdle = clock.after(timeoutMs, () => {
      if (asking?.isAsking === true) arm()
      else end(timedOut(what, timeoutMs, 'Nothing was heard of it; allow more time with timeoutMs.'))
    })
  }
  arm()
  try {
    return await link.client.callTool(
      { name, arguments: { ...args } },
      {
        signal: stop.signal,
        // Ours come first.
        timeout: maxMs + 60_000,
        onprogress: (progress) => {
          arm()
          onProgress?.(progress)
        },
        ...(tool !== undefined && { toolDefinition: { name, inputSchema: tool.inputSchema } }),
      },
    )
  } catch (error) {
    throw failure ?? link.translated(error, what)
  } finally {
    offIdle()
    offMax()
    signal?.removeEventListener('abort', abort)
  }
}

function problemsIn(tool: Tool, { structuredContent, isError }: CallToolResult): readonly Problem[] {
  if (tool.outputSchema === undefined || isError === true) return []
  if (structuredContent === undefined) return [{ path: '', message: 'is missing, although the tool promises it' }]
  return validateOutput(tool, structuredContent).problems
}
