import { isDeepStrictEqual } from 'node:util'
import { isAttempt, showsParameters, type Wish } from './agents/plain.ts'
import { exchangesOf } from './agents/tools.ts'
import type { OfficeCall } from './offices.ts'
import type { HostRun } from './run.ts'

/** Outcome of one goal. */
export interface Outcome {
  /** True if the server received the call with the right arguments. */
  readonly reached: boolean
  /** True if the model had seen the tool's parameters before that call. */
  readonly informed: boolean
  /** Calls that failed. */
  readonly failed: number
  /** Requests to the model, including the last. */
  readonly turns: number
  /** Bytes sent to the model. */
  readonly bytes: number
  /** The model's calls, in order. */
  readonly steps: readonly string[]
  /** The tools of the first request. */
  readonly listed: readonly string[]
}

/** Derives the outcome from a run and the calls that the servers received. */
export function outcomeOf({ turns }: HostRun, wish: Wish, calls: readonly OfficeCall[]): Outcome {
  const reached = calls.some(
    (each) => wish.tool === `${each.server}__${each.tool}` && isDeepStrictEqual(each.arguments, wish.arguments),
  )
  const attempts = turns.filter(({ action }) => action.kind === 'call' && isAttempt(action, wish))
  const last = attempts.at(-1)
  const exchanges = turns.length === 0 ? [] : exchangesOf(turns.at(-1)?.request ?? never())
  const isFailure = (each: (typeof exchanges)[number]): boolean =>
    isAttempt(each, wish) ? !each.result.text.includes(wish.expect) : each.result.isError
  return {
    reached,
    informed: reached && last !== undefined && showsParameters(last.request, wish),
    failed: exchanges.filter(isFailure).length,
    turns: turns.length,
    bytes: turns.reduce((sum, { request }) => sum + request.bytes, 0),
    steps: turns.map(({ action }) => (action.kind === 'say' ? 'say' : stepOf(action.name, action.arguments))),
    listed: turns[0]?.request.tools.map(({ name }) => name) ?? [],
  }
}

function stepOf(name: string, args: Record<string, unknown>): string {
  const inner = args.name ?? args.query ?? args.action
  return typeof inner === 'string' ? `${name} ${inner}` : name
}

function never(): never {
  throw new Error('A run without turns has no last turn')
}
