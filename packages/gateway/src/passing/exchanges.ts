import { type InputRequests, type InputRequiredResult, isInputRequiredResult, ProtocolError } from '@modelcontextprotocol/server'
import { isClientError, type Relay } from '@unfold-mcp/client'
import type { Clock } from '../clock.ts'
import { UpstreamError } from '../upstreams/errors.ts'
import { type Asked, askable, askSession, logLevelOf, logTo, ownerOf, questions } from './asked.ts'
import { HeldRequests, isHeld, type Run, unknownState } from './held.ts'
import { Seal } from './seal.ts'

const urlElicitationRequired = -32_042
const missingCapability = -32_021
const longestState = 65_536
const mostQuestions = 16

/**
 * Requests of clients on their way to servers and back. Whatever era each of the two speaks, what the server asks meanwhile
 * reaches the client that made the request and nobody else, or is refused.
 */
export class Exchanges {
  readonly #held: HeldRequests
  readonly #seal = new Seal()

  constructor(clock: Clock) {
    this.#held = new HeldRequests(clock)
  }

  /** Has `run` ask the server. What comes back is its result, or what the client has to say first. */
  async pass<T extends object>(asked: Asked, run: Run<T | InputRequiredResult>): Promise<T | InputRequiredResult> {
    const state = asked.mcp?.mcpReq.requestState() as string | undefined
    const inputResponses = asked.mcp?.mcpReq.inputResponses
    if (state !== undefined && isHeld(state)) return this.#given<T>(asked, this.#held.resume(asked, state, inputResponses ?? {}))
    const requestState = state === undefined ? undefined : this.#seal.open(state, ownerOf(asked))
    if (state !== undefined && requestState === undefined) throw unknownState()
    const answers = {
      ...(inputResponses !== undefined && { inputResponses }),
      ...(requestState !== undefined && { requestState }),
    }
    const withAnswers: Run<T | InputRequiredResult> = (relay, options) => run({ ...relay, answers }, options)
    const running =
      asked.era === 'stateless' ? this.#held.begin(asked, withAnswers) : withAnswers(relayTo(asked), optionsOf(asked))
    return this.#given<T>(asked, running)
  }

  close(): void {
    this.#held.close()
  }

  async #given<T extends object>(asked: Asked, running: Promise<object>): Promise<T | InputRequiredResult> {
    const result = await running.catch((error: unknown) => this.#visited(asked, error))
    // What is held here was asked in the client's own words already.
    if (!isInputRequiredResult(result) || isHeld(result.requestState ?? '')) return result as T
    const { inputRequests, requestState } = result
    if (requestState !== undefined && requestState.length > longestState)
      throw this.#refused(asked, 'wants to be told more with the answers than can be kept.')
    if (Object.keys(inputRequests ?? {}).length > mostQuestions) throw this.#refused(asked, 'has too many questions.')
    return {
      resultType: 'input_required',
      ...(inputRequests !== undefined && { inputRequests: this.#questions(asked, inputRequests) }),
      ...(requestState !== undefined && { requestState: this.#seal.close(requestState, ownerOf(asked)) }),
    }
  }

  #questions(asked: Asked, given: InputRequests): InputRequests {
    try {
      return questions(asked, given)
    } catch (error) {
      throw this.#refused(asked, `asks for what cannot be passed on. ${error instanceof Error ? error.message : ''}`)
    }
  }

  #refused({ server }: Asked, message: string): UpstreamError {
    return new UpstreamError(server, 'refused', message)
  }

  /** A session-era server may refuse until somebody has visited an address; in the other era that is a question like others. */
  #visited({ era }: Asked, error: unknown): InputRequiredResult {
    const cause = error instanceof UpstreamError ? error.cause : undefined
    if (!isClientError(cause, 'protocol')) throw error
    const { problem, data, code } = cause.details
    // It was told what the client can do, so what it misses is for the client to know.
    if (code === missingCapability && era === 'stateless') throw new ProtocolError(missingCapability, problem, data)
    if (code !== urlElicitationRequired) throw error
    if (era === 'session') throw new ProtocolError(urlElicitationRequired, problem, data)
    const wanted = (data as { readonly elicitations?: unknown } | undefined)?.elicitations
    const visits = (Array.isArray(wanted) ? wanted : []).flatMap(({ url, message }: { url?: unknown; message?: unknown }) =>
      typeof url === 'string' && typeof message === 'string' ? [{ mode: 'url' as const, url, message }] : [],
    )
    if (visits.length === 0) throw error
    const inputRequests = visits.map((params, index) => [`${index + 1}`, { method: 'elicitation/create', params }] as const)
    return { resultType: 'input_required', inputRequests: Object.fromEntries(inputRequests) as InputRequests }
  }
}

function relayTo(asked: Asked): Relay {
  return {
    capabilities: askable(asked),
    logLevel: logLevelOf(asked),
    ask: (given, signal) => askSession(asked, given, signal),
    onLog: logTo(asked),
  }
}

function optionsOf({ signal, progress }: Asked): Parameters<Run<object>>[1] {
  return {
    signal,
    onProgress: ({ progress: done, total, message }) => {
      progress(done, total, message).catch(() => undefined)
    },
  }
}
