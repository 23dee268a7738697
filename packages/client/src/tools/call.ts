import {
  type CallToolResult,
  type ContentBlock,
  type InputRequiredResult,
  isInputRequiredResult,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/client'
import { type Problem, printable, type Tool } from '@unfold-mcp/core'
import { validateOutput } from '../schema/validate.ts'
import type { DirectRequests } from '../session/direct-requests.ts'
import type { ElicitationQueue } from '../session/elicitation.ts'
import { type Relay, RelayedRequest, relayParams } from '../session/relay.ts'
import type { Session } from '../session/session.ts'
import type { Clock } from '../time/clock.ts'
import { type RequestTimeout, type TimeoutOptions, withRequestTimeout } from '../time/request-timeout.ts'
import { callResult, checkedResult, isPlainResult } from './call-result.ts'
import { type SavedFile, type SaveTo, saveLargeParts } from './result-files.ts'

export interface CallOptions extends TimeoutOptions {
  /** Folder for large or binary parts of the result; links to the files replace them. */
  readonly saveTo?: string | SaveTo
  /** `false` sends the arguments without validation. */
  readonly validate?: boolean
  /** Also call a tool that is not listed. */
  readonly unlisted?: boolean
  /** `_meta` of the request. */
  readonly meta?: Readonly<Record<string, unknown>>
  /** Client that the call is made for, in a proxy. */
  readonly relay?: Relay
}

/** Result of a call. A tool that failed sets `isError`. */
export interface CallResult {
  readonly content: readonly ContentBlock[]
  readonly structuredContent?: unknown
  readonly isError: boolean
  readonly _meta?: Readonly<Record<string, unknown>>
  /** Parts that were written to files. */
  readonly files: readonly SavedFile[]
  /** Where the structured content does not match the output schema of the tool. */
  readonly outputProblems: readonly Problem[]
  /** Input that the server requires before it continues, if the call is made for another client. */
  readonly inputRequired?: InputRequiredResult
}

export interface Call {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
  readonly tool: Tool | undefined
  readonly clock: Clock
  readonly elicitations: ElicitationQueue | undefined
  readonly options: CallOptions
}

export async function callTool(session: Session, call: Call): Promise<CallResult> {
  const { name, tool, elicitations, options } = call
  const sent = await (elicitations === undefined ? sendCall(session, call) : sendWithElicitation(session, call, elicitations))
  if (isInputRequiredResult(sent)) return { content: [], isError: false, files: [], outputProblems: [], inputRequired: sent }
  const outputProblems = tool === undefined ? [] : problemsIn(tool, sent)
  const { saveTo } = options
  const { result, files } = saveTo === undefined ? { result: sent, files: [] } : await saveLargeParts(name, sent, saveTo)
  return toCallResult(result, files, outputProblems)
}

function toCallResult(
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

async function sendWithElicitation(
  session: Session,
  call: Call,
  elicitations: ElicitationQueue,
): Promise<CallToolResult | InputRequiredResult> {
  try {
    return await sendCall(session, call)
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined
    // A session-era server may require the user to visit a URL, and the call to be repeated after that.
    if (!(cause instanceof UrlElicitationRequiredError)) throw error
    const { signal = new AbortController().signal } = call.options
    for (const request of cause.elicitations.slice(0, 10))
      if ((await elicitations.enqueue(request, signal)).action !== 'accept') throw error
    return sendCall(session, call)
  }
}

function sendCall(session: Session, call: Call): Promise<CallToolResult | InputRequiredResult> {
  const { name, args, tool, clock, elicitations, options } = call
  const { relay } = options
  const relayed = relay === undefined ? undefined : new RelayedRequest(relay)
  if (session.requests !== undefined) return sendDirectly(session, session.requests, call, relayed)
  const timing: RequestTimeout = {
    ...options,
    what: `Calling ${printable(name)}`,
    clock,
    isWaitingForUser: () => elicitations?.isWaitingForUser === true || relayed?.isWaitingForUser === true,
    toClientError: (error, what) => session.toClientError(error, what),
  }
  const params = {
    name,
    arguments: { ...args },
    ...(options.meta !== undefined && { _meta: { ...options.meta } }),
  }
  return withRequestTimeout(timing, (sendOptions) =>
    session.relays.run(relayed, () => {
      if (session.agreement.era === 'session')
        return session.client.request({ method: 'tools/call', params }, callResult, sendOptions)
      return session.client.callTool(
        { ...params, ...(relay !== undefined && relayParams(relay)) },
        {
          ...sendOptions,
          ...(tool !== undefined && { toolDefinition: { name, inputSchema: tool.inputSchema } }),
          ...(relay !== undefined && { allowInputRequired: true }),
        },
      )
    }),
  )
}

/** Sends a call without the SDK. */
async function sendDirectly(
  session: Session,
  requests: DirectRequests,
  { name, args, elicitations, options }: Call,
  relayed: RelayedRequest | undefined,
): Promise<CallToolResult> {
  const { timeoutMs, maxTimeoutMs, signal, onProgress, meta } = options
  const what = (): string => `Calling ${printable(name)}`
  const isWaitingForUser = (): boolean => elicitations?.isWaitingForUser === true || relayed?.isWaitingForUser === true
  const params = meta === undefined ? { name, arguments: args } : { name, arguments: args, _meta: meta }
  session.relays.enter(relayed)
  try {
    const result = await requests.send('tools/call', params, {
      ...{ timeoutMs, maxTimeoutMs, signal, onProgress, what, isWaitingForUser },
    })
    return isPlainResult(result) ? result : await checkedResult(result)
  } catch (error) {
    throw session.toClientError(error, what())
  } finally {
    session.relays.leave(relayed)
  }
}

function problemsIn(tool: Tool, { structuredContent, isError }: CallToolResult): readonly Problem[] {
  if (tool.outputSchema === undefined || isError === true) return []
  if (structuredContent === undefined) return [{ path: '', message: 'is missing, but the tool has an output schema' }]
  return validateOutput(tool, structuredContent).problems
}
