import {
  type CallToolResult,
  type ContentBlock,
  type InputRequiredResult,
  isInputRequiredResult,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/client'
import { type Problem, printable, type Tool } from '@unfold-mcp/core'
import { validateOutput } from '../schema/validate.ts'
import type { Asking } from '../session/elicitation.ts'
import { type Relay, Relayed, relayParams } from '../session/relay.ts'
import type { Requests } from '../session/requests.ts'
import type { Link } from '../session/session.ts'
import type { Clock } from '../time/clock.ts'
import { type Timed, type Timing, timed } from '../time/request-timeout.ts'
import { callResult, checkedResult, isPlainResult } from './call-result.ts'
import { type SavedFile, type SaveTo, saved } from './saving.ts'

export interface CallOptions extends Timing {
  /** A folder for parts of the result that are large or no text; links to the files take their places. */
  readonly saveTo?: string | SaveTo
  /** `false` sends the arguments as they are, without looking at the tool's schema. */
  readonly validate?: boolean
  /** Also a tool that is not listed: servers may have tools that they do not show. */
  readonly unlisted?: boolean
  /** Sent beside the arguments, in `_meta`. */
  readonly meta?: Readonly<Record<string, unknown>>
  /** Whoever the call is made for, where that is somebody else. */
  readonly relay?: Relay
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
  /** What the server wants to know before it goes on, where the call is made for somebody else. */
  readonly inputRequired?: InputRequiredResult
}

export interface Call {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
  readonly tool: Tool | undefined
  readonly clock: Clock
  readonly asking: Asking | undefined
  readonly options: CallOptions
}

/** Calls a tool and waits for what it answers. */
export async function callTool(link: Link, call: Call): Promise<CallResult> {
  const { name, tool, asking, options } = call
  const answer = await (asking === undefined ? sent(link, call) : answered(link, call, asking))
  if (isInputRequiredResult(answer)) return { content: [], isError: false, files: [], outputProblems: [], inputRequired: answer }
  const outputProblems = tool === undefined ? [] : problemsIn(tool, answer)
  const { saveTo } = options
  const { result, files } = saveTo === undefined ? { result: answer, files: [] } : await saved(name, answer, saveTo)
  return answerOf(result, files, outputProblems)
}

function answerOf(
  { content, structuredContent, isError = false, _meta }: CallToolResult,
  files: readonly SavedFile[],
  outputProblems: readonly Problem[],
): CallResult {
  if (structuredContent === undefined && _meta === undefined) return { content, isError, files, outputProblems }
  return {
    content,
    ...(structuredContent !== undefined && { structuredContent }),
    isError,
    ...(_meta !== undefined && { _meta }),
    files,
    outputProblems,
  }
}

async function answered(link: Link, call: Call, asking: Asking): Promise<CallToolResult | InputRequiredResult> {
  try {
    return await sent(link, call)
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined
    // A session-era server may want a person to visit an address first, and to be called again after that.
    if (!(cause instanceof UrlElicitationRequiredError)) throw error
    const { signal = new AbortController().signal } = call.options
    for (const question of cause.elicitations.slice(0, 10))
      if ((await asking.ask(question, signal)).action !== 'accept') throw error
    return sent(link, call)
  }
}

function sent(link: Link, call: Call): Promise<CallToolResult | InputRequiredResult> {
  const { name, args, tool, clock, asking, options } = call
  const { relay } = options
  const relayed = relay === undefined ? undefined : new Relayed(relay)
  if (link.requests !== undefined) return sentDirectly(link, link.requests, call, relayed)
  const timing: Timed = {
    ...options,
    what: `Calling ${printable(name)}`,
    clock,
    isAsking: () => asking?.isAsking === true || relayed?.isAsking === true,
    translated: (error, what) => link.translated(error, what),
  }
  const params = {
    name,
    arguments: { ...args },
    ...(options.meta !== undefined && { _meta: { ...options.meta } }),
  }
  return timed(timing, (sending) =>
    link.relays.during(relayed, () => {
      if (link.agreement.era === 'session') return link.client.request({ method: 'tools/call', params }, callResult, sending)
      return link.client.callTool(
        { ...params, ...(relay !== undefined && relayParams(relay)) },
        {
          ...sending,
          ...(tool !== undefined && { toolDefinition: { name, inputSchema: tool.inputSchema } }),
          ...(relay !== undefined && { allowInputRequired: true }),
        },
      )
    }),
  )
}

/** The same without the SDK. */
async function sentDirectly(
  link: Link,
  requests: Requests,
  { name, args, asking, options }: Call,
  relayed: Relayed | undefined,
): Promise<CallToolResult> {
  const { timeoutMs, maxTimeoutMs, signal, onProgress, meta } = options
  const what = (): string => `Calling ${printable(name)}`
  const isAsking = (): boolean => asking?.isAsking === true || relayed?.isAsking === true
  const params = meta === undefined ? { name, arguments: args } : { name, arguments: args, _meta: meta }
  link.relays.enter(relayed)
  try {
    const answer = await requests.send('tools/call', params, { timeoutMs, maxTimeoutMs, signal, onProgress, what, isAsking })
    return isPlainResult(answer) ? answer : await checkedResult(answer)
  } catch (error) {
    throw link.translated(error, what())
  } finally {
    link.relays.leave(relayed)
  }
}

function problemsIn(tool: Tool, { structuredContent, isError }: CallToolResult): readonly Problem[] {
  if (tool.outputSchema === undefined || isError === true) return []
  if (structuredContent === undefined) return [{ path: '', message: 'is missing, although the tool promises it' }]
  return validateOutput(tool, structuredContent).problems
}
