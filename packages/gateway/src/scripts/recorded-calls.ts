import { canonicalJson, isRecord, printable } from '@unfold-mcp/core'
import type { CallOutcome, ScriptCall, ScriptEngine, ScriptLimits, ScriptTurn } from '@unfold-mcp/server/scripts'

/** A call that a script is expected to make, and what it gets. */
export interface RecordedCall {
  /** As in the script (`github.create_issue`) or as clients see it (`github__create_issue`); or `search`, `describe`. */
  readonly tool: string
  /** Absent: any arguments. */
  readonly arguments?: unknown
  readonly result?: unknown
  /** Text of a failed call, in place of `result`. */
  readonly error?: string
  /** Default: `tool_failed`. */
  readonly reason?: string
}

/** One test of a script. */
export interface RecordedCase {
  readonly name?: string
  readonly input?: unknown
  readonly calls: readonly RecordedCall[]
  /** Absent: any result. */
  readonly result?: unknown
  /** Part of the error with which the script ends, in place of `result`. */
  readonly error?: string
}

/** What happened in a test. */
export interface CaseReport {
  readonly name: string
  readonly isPassed: boolean
  readonly problems: readonly string[]
  readonly calls: readonly { readonly tool: string; readonly arguments: unknown; readonly line?: number }[]
  readonly output: readonly string[]
  readonly result?: unknown
  readonly error?: string
}

/** Reads the cases of a file with recorded calls: one, or a list. Throws with what is wrong. */
export function parseCases(text: string): readonly RecordedCase[] {
  const parsed: unknown = JSON.parse(text)
  const cases = Array.isArray(parsed) ? parsed : [parsed]
  if (cases.length === 0) throw new Error('It contains no test.')
  return cases.map((each: unknown, at) => {
    const where = `Test ${at + 1}`
    if (!isRecord(each)) throw new Error(`${where} is not an object.`)
    const unknown = Object.keys(each).find((key) => !caseKeys.has(key))
    if (unknown !== undefined)
      throw new Error(`${where} has the unknown key "${printable(unknown)}". Keys: ${[...caseKeys].join(', ')}.`)
    const { calls = [], error } = each
    if (!Array.isArray(calls)) throw new Error(`${where}: calls is not a list.`)
    if (error !== undefined && typeof error !== 'string') throw new Error(`${where}: error is not text.`)
    for (const [index, call] of calls.entries())
      if (!isRecord(call) || typeof call.tool !== 'string') throw new Error(`${where}: call ${index + 1} has no "tool".`)
    return { ...each, calls: calls as RecordedCall[] }
  })
}

const caseKeys = new Set(['name', 'input', 'calls', 'result', 'error'])

const limits: ScriptLimits = {
  cpuMs: 5_000,
  wallMs: 60_000,
  memoryBytes: 67_108_864,
  calls: 500,
  outputCharacters: 20_000,
  resultBytes: 200_000,
}

/** Runs a script without any server: its calls get recorded results. `source`: JavaScript, types already removed. */
export async function runRecorded(
  source: string,
  { name = 'test', input = {}, calls: recorded, ...expected }: RecordedCase,
  engine: ScriptEngine,
): Promise<CaseReport> {
  const left = [...recorded]
  const problems: string[] = []
  const made: ScriptCall[] = []
  const output: string[] = []
  let turn: ScriptTurn | undefined
  let failure: string | undefined
  const machine = await engine.open({ limits, signal: new AbortController().signal })
  const answered = new Set<number>()
  try {
    turn = await machine.start({ source, form: 'module', input })
    while (turn.kind === 'waiting') {
      output.push(...turn.output)
      const fresh = turn.calls.filter(({ id }) => !answered.has(id))
      const outcomes = fresh.map((call): CallOutcome => {
        answered.add(call.id)
        made.push(call)
        return outcomeOf(call, left, problems)
      })
      turn = await machine.settle(outcomes)
    }
    output.push(...turn.output)
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error)
  } finally {
    machine.close()
  }
  if (turn?.kind === 'threw') failure = errorText(turn.error)
  for (const { tool } of left) problems.push(`The call of ${printable(tool)} was not made.`)
  const result = turn?.kind === 'returned' ? turn.value : undefined
  problems.push(...(failure === undefined ? resultProblems(result, expected) : errorProblems(failure, expected.error)))
  return {
    name,
    isPassed: problems.length === 0,
    problems,
    calls: made.map(({ name: tool, arguments: args, line }) => ({ tool, arguments: args, ...(line !== undefined && { line }) })),
    output,
    ...(result !== undefined && { result }),
    ...(failure !== undefined && { error: failure }),
  }
}

type Expected = Pick<RecordedCase, 'result' | 'error'>

const isEqual = (one: unknown, other: unknown): boolean => canonicalJson(one ?? null) === canonicalJson(other ?? null)
const shown = (value: unknown): string => printable(JSON.stringify(value) ?? 'nothing', 500)

function resultProblems(result: unknown, expected: Expected): readonly string[] {
  if (expected.error !== undefined)
    return [`The script returned ${shown(result)} instead of failing with "${printable(expected.error)}".`]
  if (!('result' in expected) || isEqual(result, expected.result)) return []
  return [`The script returned ${shown(result)} instead of ${shown(expected.result)}.`]
}

const errorProblems = (error: string, expected: string | undefined): readonly string[] =>
  expected !== undefined && error.includes(expected) ? [] : [`The script failed: ${error}`]

function errorText({ name, message, line, column }: { name: string; message: string; line?: number; column?: number }): string {
  const place = line === undefined ? '' : ` (line ${line}${column === undefined ? '' : `, column ${column}`})`
  return `${name}: ${message}${place}`
}

/** Tools have several spellings in a script. */
const keyOf = (tool: string): string => tool.replaceAll(/[^\p{L}\p{N}]+/gu, '_').toLowerCase()

function outcomeOf(call: ScriptCall, left: RecordedCall[], problems: string[]): CallOutcome {
  const { id, name, kind, arguments: args, line } = call
  const at = left.findIndex(
    ({ tool, ...recorded }) =>
      keyOf(tool) === keyOf(kind === 'tool' ? name : kind) && (!('arguments' in recorded) || isEqual(recorded.arguments, args)),
  )
  const [found] = at === -1 ? [] : left.splice(at, 1)
  if (found === undefined) {
    problems.push(`${line === undefined ? 'A' : `Line ${line}: a`} call is not recorded: ${printable(name)}(${shown(args)})`)
    return { id, error: { message: 'This call is not recorded.', reason: 'unknown_tool' } }
  }
  if (found.error !== undefined) return { id, error: { message: found.error, reason: found.reason ?? 'tool_failed' } }
  return { id, value: found.result ?? null }
}
