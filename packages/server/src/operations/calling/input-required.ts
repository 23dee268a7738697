import { setTimeout as pause } from 'node:timers/promises'
import {
  type CallToolResult,
  type ClientCapabilities,
  type InputRequiredResult,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'
import type { ClientMethod, ClientPort } from '../../tool/client-port.ts'
import { isInputRequired } from '../../tool/result.ts'

type Result = CallToolResult | InputRequiredResult

/** The responses and the state that a repeated call brings. */
export interface Answers {
  readonly inputResponses?: { readonly [key: string]: unknown } | undefined
  readonly requestState?: string | undefined
}

export interface InputRequest {
  readonly method: ClientMethod
  readonly params: Readonly<Record<string, unknown>>
}

// Ends a handler that never has enough input.
export const maxRounds = 8
// People take their time to respond.
const answerTimeoutMs = 600_000
// Delays a handler that only wants to be called again.
export const stateOnlyPauseMs = 250

/**
 * Does for session-era clients what those of 2026-07-28 do themselves: requests the input that a result requires, and repeats the
 * call with the responses until the result is complete.
 */
export async function completed(
  first: Result,
  client: ClientPort,
  signal: AbortSignal,
  again: (answers: Answers) => Promise<Result>,
): Promise<CallToolResult> {
  let result = first
  for (let round = 0; round < maxRounds; round++) {
    if (!isInputRequired(result)) return result
    const requests = requestsIn(result)
    const missing = requests.find(([, request]) => missingFor(request, client.capabilities) !== undefined)
    if (missing !== undefined) return failed(`This tool needs input (${missing[1].method}) that the client does not support.`)
    const { requestState } = result
    try {
      if (requests.length === 0) await pause(stateOnlyPauseMs, undefined, { signal })
      const answers = await Promise.all(requests.map(([key, request]) => answered(key, request, client, signal)))
      const inputResponses = requests.length === 0 ? undefined : Object.fromEntries(answers)
      result = await again({ inputResponses, ...(typeof requestState === 'string' && { requestState }) })
    } catch (error) {
      if (signal.aborted || !(error instanceof InputError)) throw error
      return failed(`This tool needs input, and the client did not provide it: ${error.message}`)
    }
  }
  return isInputRequired(result) ? failed(`This tool still required input after ${maxRounds} rounds.`) : result
}

/** Throws if a 2026-07-28 client did not declare the capabilities for the required input. */
export function checkInputRequests(result: InputRequiredResult, capabilities: ClientCapabilities | undefined): void {
  for (const [key, request] of requestsIn(result)) {
    const missing = missingFor(request, capabilities)
    if (missing === undefined) continue
    const message = `Input "${key}" (${request.method}) is required, and the client did not declare that capability.`
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: missing }, message)
  }
}

/** The responses of a repeated call. Malformed ones are left out, so that the tool asks again. */
export function inputResponsesIn(value: unknown): Answers['inputResponses'] {
  if (value === undefined) return undefined
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {}
  const isAnswer = (answer: unknown): boolean =>
    typeof answer === 'object' && answer !== null && !Array.isArray(answer) && !('method' in answer) && !('result' in answer)
  return Object.fromEntries(Object.entries(value).filter(([, answer]) => isAnswer(answer)))
}

const known: ReadonlySet<string> = new Set<ClientMethod>(['elicitation/create', 'sampling/createMessage', 'roots/list'])

/** The input that a result requires, by key; throws if a client cannot provide it. */
export function requestsIn({ inputRequests, requestState }: InputRequiredResult): readonly (readonly [string, InputRequest])[] {
  const entries = Object.entries(inputRequests ?? {}) as readonly (readonly [string, Partial<InputRequest> | null])[]
  if (entries.length === 0 && typeof requestState !== 'string') throw invalid('it has neither inputRequests nor requestState')
  return entries.map(([key, request]) => {
    const { method, params } = request ?? {}
    if (method === undefined || !known.has(method)) throw invalid(`"${key}" is not a request that a client can answer`)
    if (params === undefined && method !== 'roots/list') throw invalid(`"${key}" has no params`)
    return [key, { method, params: params ?? {} }]
  })
}

function invalid(problem: string): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InternalError,
    `The tool returned an input_required result that cannot be used: ${problem}.`,
  )
}

/** The capabilities that the request needs and that were not declared. A bare `elicitation: {}` means forms. */
export function missingFor(
  { method, params }: InputRequest,
  declared: ClientCapabilities | undefined,
): ClientCapabilities | undefined {
  if (method === 'roots/list') return declared?.roots === undefined ? { roots: {} } : undefined
  if (method === 'sampling/createMessage') {
    const needsTools = params.tools !== undefined || params.toolChoice !== undefined
    const has = declared?.sampling !== undefined && (!needsTools || declared.sampling.tools !== undefined)
    return has ? undefined : { sampling: needsTools ? { tools: {} } : {} }
  }
  const { elicitation } = declared ?? {}
  if (params.mode === 'url') return elicitation?.url === undefined ? { elicitation: { url: {} } } : undefined
  const hasForm = elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
  return hasForm ? undefined : { elicitation: { form: {} } }
}

export class InputError extends Error {}

/** Asks the client of a session. Rejects with `InputError` if it does not answer. */
export async function answered(
  key: string,
  { method, params }: InputRequest,
  client: ClientPort,
  signal: AbortSignal,
): Promise<readonly [string, unknown]> {
  // Earlier revisions identify an elicitation with a URL; 2026-07-28 does not.
  const isUrl = params.mode === 'url' && params.elicitationId === undefined
  try {
    const asked = isUrl ? { ...params, elicitationId: crypto.randomUUID() } : params
    return [key, await client.ask(method, asked, { signal, timeoutMs: answerTimeoutMs })]
  } catch (error) {
    throw new InputError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

const failed = (text: string): CallToolResult => ({ content: [{ type: 'text', text }], isError: true })
