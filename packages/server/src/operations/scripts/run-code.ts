import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server'
import { Failure, isFailure, toolIdentity } from '@unfold-mcp/core'
import type { CodeSettings } from '../../catalog/code-options.ts'
import type { ScriptEngine } from '../../scripts/engine.ts'
import { StateCipher } from '../../stores/state-cipher.ts'
import { sha256 } from '../../view/identities.ts'
import { answered, InputError } from '../calling/input-required.ts'
import type { DiscoveryCall } from '../discovery/discovery-call.ts'
import { bindingOf, isPausedScript, type PausedScript, rejectedState, seal, unseal } from './paused-script.ts'
import { reportWaiting } from './person-wait.ts'
import { reachableTools } from './reachable-tools.ts'
import { ScriptJournal } from './script-journal.ts'
import { thrown } from './script-problem.ts'
import { doneLines, failedReply, returnedReply, toolReply } from './script-reply.ts'
import { type RunEnd, ScriptRun } from './script-run.ts'
import type { StoredScript } from './stored-script.ts'

export interface CodeRequest {
  readonly code: string
  readonly input?: Readonly<Record<string, unknown>> | undefined
}

type Result = CallToolResult | InputRequiredResult

interface Running {
  /** Set for a stored script. */
  readonly stored?: StoredScript | undefined
  readonly discovery: DiscoveryCall
  readonly settings: CodeSettings
  readonly engine: ScriptEngine
  readonly signal: AbortSignal
  readonly now: () => number
  /** Of this request. */
  readonly startedAt: number
}

/** `run_code`: runs a script over the tools of this client, or continues one that waits for a person. */
export async function runCode(request: CodeRequest, discovery: DiscoveryCall): Promise<Result> {
  const { call } = discovery
  const signal = call.signal ?? call.controller?.signal ?? new AbortController().signal
  return runProgram(request, discovery, { signal })
}

/** Runs a script, or continues one that waits for a person. */
export async function runProgram(
  { code, input }: CodeRequest,
  discovery: DiscoveryCall,
  { signal, stored }: Pick<Running, 'signal' | 'stored'>,
): Promise<Result> {
  const { runtime, call } = discovery
  const settings = runtime.declaration.code
  if (settings === undefined) {
    const problem = 'scripts are turned off on this server'
    throw new Failure('script_unavailable', `Scripts cannot run: ${problem}.`, { problem })
  }
  const engine = await runtime.scripts.engine(call.scriptDepth ?? 0)
  const running: Running = { discovery, settings, engine, signal, stored, now: Date.now, startedAt: performance.now() }
  const { requestState } = call
  if (requestState !== undefined && isPausedScript(requestState)) return resumed(running, requestState, { code, input })
  const run = new ScriptRun(running)
  const stripped = await runtime.scripts.withoutTypes(code, { isModule: stored !== undefined })
  // The engine knows the place of an error that the removal of types does not.
  const isPlaced = 'error' in stripped && stripped.error.line !== undefined
  const end: RunEnd = isPlaced
    ? { kind: 'failed', error: thrown(stripped.error) }
    : await run.start('error' in stripped ? code : stripped.source, input)
  return ended(running, run, end, { code, input })
}

async function resumed(running: Running, token: string, request: CodeRequest): Promise<Result> {
  const { settings, discovery, engine, now } = running
  const { store } = settings
  const cipher = cipherOf(settings)
  const paused = await unseal(token, { cipher, store, binding: binding(running, request) }, now())
  const { state } = paused
  const done = `\n${doneLines(state.records).join('\n')}`
  if (state.engine !== engine.version) throw rejectedState('it was paused by another version of the script engine', done)
  const changed = changedTool(running, state.tools)
  if (changed !== undefined)
    throw rejectedState(`the tool "${changed}" is no longer the one that the script was confirmed for`, done)
  const responses = discovery.call.inputResponses ?? {}
  // A client that repeats the request without answers is asked again.
  if (!Object.keys(state.questions).some((key) => responses[key] !== undefined))
    return { resultType: 'input_required', inputRequests: state.questions as never, requestState: token }
  const claim = (): Promise<ScriptJournal> =>
    ScriptJournal.claim({ store, cipher, state }).catch((error: unknown) => {
      if (!isFailure(error, 'script_state_rejected')) throw error
      throw rejectedState(error.details.problem, done)
    })
  const run = new ScriptRun({ ...running, state, claim })
  return ended(running, run, await run.resume(paused, responses), request)
}

/** The reply to a run that ended or paused. A client of a session is asked while its request waits. */
async function ended(running: Running, first: ScriptRun, firstEnd: RunEnd, request: CodeRequest): Promise<Result> {
  let run = first
  let end = firstEnd
  for (;;) {
    record(running, run, end, request)
    if (end.kind !== 'paused') break
    if (running.discovery.scope.settings.era === 'stateless') return inputRequired(running, end.paused, request)
    const { paused }: { paused: PausedScript } = end
    const responses = await askInPlace(running, paused)
    run = new ScriptRun({ ...running, state: paused.state })
    end = await run.resume(paused, responses)
  }
  const done = { run: run.id, records: run.records, output: run.output }
  if (end.kind === 'failed') return failedReply(end.error, done)
  return running.stored === undefined ? returnedReply(end.value, done) : toolReply(end.value, done)
}

function record(
  { settings, discovery: { scope, call }, startedAt, stored }: Running,
  run: ScriptRun,
  { kind }: RunEnd,
  { code, input }: CodeRequest,
): void {
  const { era, principal } = scope.settings
  const ms = Math.round(performance.now() - startedAt)
  const program = stored === undefined ? { code, input } : { stored: stored.name, input }
  const parent = call.script?.run
  const of = { run: run.id, ...program, ...(parent !== undefined && { parent }) }
  settings.ran?.({ ...of, outcome: kind, calls: run.records.length, scope: scope.state.key, era, principal, ms })
}

async function inputRequired(running: Running, paused: PausedScript, request: CodeRequest): Promise<InputRequiredResult> {
  const { settings } = running
  const requestState = await seal(paused, {
    cipher: cipherOf(settings),
    store: settings.store,
    binding: binding(running, request),
  })
  return { resultType: 'input_required', inputRequests: paused.state.questions as never, requestState }
}

/** Asks the client of a session. A question that is not answered counts as declined. */
async function askInPlace({ discovery, settings, signal }: Running, { state }: PausedScript): Promise<Record<string, unknown>> {
  const { client } = discovery.call
  if (client === undefined) return {}
  const stop = reportWaiting(discovery.call, state.records.length)
  const within = AbortSignal.any([signal, AbortSignal.timeout(settings.limits.answerMs)])
  try {
    const responses = await Promise.all(
      Object.entries(state.questions).map(async ([key, question]) => {
        try {
          return await answered(key, question, client, within)
        } catch (error) {
          if (!(error instanceof InputError) || signal.aborted) throw error
          return [key, { action: 'cancel' }] as const
        }
      }),
    )
    return Object.fromEntries(responses)
  } finally {
    stop()
  }
}

function changedTool({ discovery, stored }: Running, expected: Readonly<Record<string, string>>): string | undefined {
  const known = reachableTools(discovery, stored)
  return Object.entries(expected).find(([name, identity]) => {
    const tool = known.get(name)
    return tool === undefined || toolIdentity(tool, sha256) !== identity
  })?.[0]
}

const binding = ({ discovery: { runtime, scope }, stored }: Running, { code, input }: CodeRequest): string =>
  bindingOf(scope, runtime.declaration.info.name, [code, input ?? null, ...(stored === undefined ? [] : [stored.name])])

const ciphers = new WeakMap<CodeSettings, StateCipher>()

function cipherOf(settings: CodeSettings): StateCipher {
  const found = ciphers.get(settings) ?? new StateCipher(settings.secret, 'script state')
  ciphers.set(settings, found)
  return found
}
