import { Failure, type ScriptLimit } from '@unfold-mcp/core'
import type { ScriptLimits } from '../engine.ts'

const mebibytes = (bytes: number): string => `${Math.round((bytes / 1_048_576) * 10) / 10} MiB`
const seconds = (ms: number): string => `${ms / 1_000} s`

/** Maximum and message of each limit. The stack has a fixed size. */
const exceeded: { readonly [L in ScriptLimit]: (limits: ScriptLimits) => readonly [maximum: number, message: string] } = {
  cpu: ({ cpuMs }) => [
    cpuMs,
    `it used more than ${seconds(cpuMs)} of CPU time. Look for an endless loop, or process less at once.`,
  ],
  wall: ({ wallMs }) => [
    wallMs,
    `it did not end within ${seconds(wallMs)}. Make fewer or faster calls, or split the work into several scripts.`,
  ],
  memory: ({ memoryBytes }) => [memoryBytes, `it needed more than ${mebibytes(memoryBytes)} of memory. Process less at once.`],
  stack: () => [0, 'its functions call each other too deeply. Look for an endless recursion, or use a loop.'],
  calls: ({ calls }) => [calls, `it made more than ${calls} calls. Make fewer, or split the work into several scripts.`],
  parallelCalls: ({ calls, parallelCalls = calls }) => [
    parallelCalls,
    `it made more than ${parallelCalls} calls without waiting for results. Await calls before making more.`,
  ],
  output: ({ outputCharacters }) => [
    outputCharacters,
    `it printed more than ten times the ${outputCharacters} characters that are kept. Print less.`,
  ],
  result: ({ resultBytes }) => [resultBytes, `its result is larger than ${resultBytes} bytes. Return only what is needed.`],
}

export function limitExceeded(limit: ScriptLimit, limits: ScriptLimits): Failure<'script_limit'> {
  const [maximum, text] = exceeded[limit](limits)
  return new Failure('script_limit', `The script was stopped: ${text}`, { limit, maximum })
}

export function unavailable(problem: string, cause?: unknown): Failure<'script_unavailable'> {
  return new Failure('script_unavailable', `Scripts cannot run: ${problem}`, { problem }, { cause })
}

export function rejectedSnapshot(problem: string): Failure<'invalid_snapshot'> {
  return new Failure('invalid_snapshot', `The paused script cannot be resumed: ${problem}. Run it again.`, { problem })
}

export function cancelled(): Failure<'call_cancelled'> {
  return new Failure('call_cancelled', 'The script was cancelled.', { tool: 'run_code' })
}
