import { randomInt, randomUUID } from 'node:crypto'
import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server'
import { Failure, facetOf, isRecord, resolve as resolveName, type Tool, toolIdentity } from '@unfold-mcp/core'
import type { CodeSettings } from '../../catalog/code-options.ts'
import { sharePath } from '../../scope/share-path.ts'
import type { CallOutcome, ScriptCall, ScriptEngine, ScriptMachine, ScriptTurn } from '../../scripts/engine.ts'
import type { ScriptCaller } from '../../tool/context.ts'
import { errorMessage } from '../../tool/report.ts'
import { isInputRequired } from '../../tool/result.ts'
import { inputsWith } from '../../view/granted.ts'
import { sha256 } from '../../view/identities.ts'
import { cancellation } from '../calling/deadline.ts'
import { type Answers, maxRounds, missingFor, requestsIn } from '../calling/input-required.ts'
import type { DiscoveryCall } from '../discovery/discovery-call.ts'
import { type CallRecord, type CallState, shortArguments } from './call-record.ts'
import { CallSlots } from './call-slots.ts'
import type { OpenInput, PausedScript, ScriptState } from './paused-script.ts'
import { type AskedCall, confirmation, confirmKey, decisionIn, inputKey, type Questions } from './question.ts'
import { reachableTools } from './reachable-tools.ts'
import { lookUp, makeCall, outcomeOf } from './script-call.ts'
import type { ScriptJournal } from './script-journal.ts'
import { problemOf, type ScriptProblem, thrown } from './script-problem.ts'
import type { StoredScript } from './stored-script.ts'
import { toolAt, unknownPath } from './tool-path.ts'

/** How a run, or the part of it up to a pause, ended. */
export type RunEnd =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly error: ScriptProblem }
  | { readonly kind: 'paused'; readonly paused: PausedScript }

interface RunOptions {
  readonly discovery: DiscoveryCall
  readonly settings: CodeSettings
  readonly engine: ScriptEngine
  readonly signal: AbortSignal
  /** Set for a script that continues. */
  readonly state?: ScriptState
  /** Claims the state for this process, before anything runs. */
  readonly claim?: () => Promise<ScriptJournal>
  readonly now: () => number
  /** Set for a stored script. */
  readonly stored?: StoredScript | undefined
}

/** A tool call that has not ended. */
interface OpenCall {
  readonly call: ScriptCall
  readonly tool: string
  readonly arguments: Record<string, unknown>
  readonly confirmation: ScriptCaller['confirmation']
  readonly answers: Answers
  readonly rounds: number
}

/** One run of a script: makes its calls, asks a person about them, and records what was done. */
export class ScriptRun {
  readonly id: string
  readonly #options: RunOptions
  readonly #records = new Map<number, CallRecord>()
  readonly #seen = new Set<number>()
  readonly #granted = new Map<string, number>()
  readonly #tools = new Map<string, string>()
  readonly #output: string[] = []
  readonly #slots: CallSlots
  readonly #stop = new AbortController()
  /** Calls that wait for confirmation. */
  readonly #asked = new Map<number, OpenCall>()
  /** Calls whose tools asked for input. */
  readonly #inputs = new Map<number, { readonly open: OpenCall; readonly result: InputRequiredResult }>()
  #settled: CallOutcome[] = []
  #wake: () => void = () => undefined
  #cannotAsk: boolean
  #journal: ScriptJournal | undefined
  #reported = 0

  constructor(options: RunOptions) {
    const { state, settings } = options
    this.#options = options
    this.id = state?.run ?? randomUUID()
    this.#cannotAsk = state?.cannotAsk ?? false
    this.#slots = new CallSlots(settings.limits.parallelCalls, () => this.#wake())
    if (state === undefined) return
    for (const record of state.records) this.#records.set(record.id, record)
    for (const [tool, count] of Object.entries(state.granted)) this.#granted.set(tool, count)
    for (const [tool, print] of Object.entries(state.tools)) this.#tools.set(tool, print)
    this.#output.push(...state.output)
  }

  get records(): readonly CallRecord[] {
    return [...this.#records.values()]
  }

  get output(): readonly string[] {
    return this.#output
  }

  async start(source: string, input: unknown): Promise<RunEnd> {
    const startedAt = this.#options.now()
    const seed = randomInt(2 ** 32)
    const form = this.#options.stored === undefined ? 'body' : 'module'
    return this.#with((machine) => machine.start({ source, form, ...(input !== undefined && { input }), startedAt, seed }))
  }

  /** Continues a paused script with the responses to its questions. */
  async resume({ state, snapshot }: PausedScript, responses: Readonly<Record<string, unknown>>): Promise<RunEnd> {
    return this.#with(async (machine) => {
      const turn = await this.#replayed(machine, await machine.restore(snapshot))
      if (turn.kind === 'waiting') await this.#apply(turn.calls, state, responses)
      return turn
    })
  }

  async #with(begin: (machine: ScriptMachine) => Promise<ScriptTurn>): Promise<RunEnd> {
    const { engine, settings, signal, claim, discovery } = this.#options
    const limits = { ...settings.limits, parallelCalls: settings.limits.calls }
    const ended = AbortSignal.any([signal, this.#stop.signal])
    const machine = await engine.open({ limits, signal: ended, holder: sharePath(discovery.scope) })
    try {
      this.#journal = await claim?.()
    } catch (error) {
      machine.close()
      throw error
    }
    // The machine ends by itself at a limit, also while calls run.
    const stop = (): void => {
      if (machine.ended.reason instanceof Failure) this.#stop.abort(machine.ended.reason)
    }
    machine.ended.addEventListener('abort', stop)
    try {
      const end = await this.#drive(machine, await begin(machine), ended)
      await this.#idle()
      return end
    } catch (error) {
      this.#stop.abort(error)
      this.#output.push(...machine.unreadOutput)
      await this.#idle()
      if (signal.aborted) throw cancellation(this.#options.stored?.name ?? 'run_code')
      return { kind: 'failed', error: problemOf(machine.ended.reason ?? error) }
    } finally {
      machine.ended.removeEventListener('abort', stop)
      machine.close()
      await this.#journal?.end()
    }
  }

  async #drive(machine: ScriptMachine, first: ScriptTurn, signal: AbortSignal): Promise<RunEnd> {
    let turn = first
    for (;;) {
      this.#output.push(...turn.output)
      if (turn.kind === 'returned') return { kind: 'returned', value: turn.value }
      if (turn.kind === 'threw') return { kind: 'failed', error: thrown(turn.error) }
      for (const call of turn.calls) if (!this.#seen.has(call.id)) await this.#take(call)
      while (this.#settled.length === 0 && this.#slots.running > 0) await this.#woken(signal)
      if (this.#settled.length > 0) {
        const outcomes = this.#settled
        this.#settled = []
        await this.#journal?.add({ settled: outcomes })
        turn = await machine.settle(outcomes)
        continue
      }
      if (this.#asked.size + this.#inputs.size === 0) {
        const message = 'The script waits for a promise that no call settles.'
        return { kind: 'failed', error: { message, reason: 'script_failed' } }
      }
      if (this.#askable()) return { kind: 'paused', paused: { state: this.#state(), snapshot: await machine.snapshot() } }
    }
  }

  /** Resolves when a call has settled; rejects when the run is stopped. */
  #woken(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = (): void => reject(signal.reason as Error)
      if (signal.aborted) {
        abort()
        return
      }
      signal.addEventListener('abort', abort, { once: true })
      this.#wake = () => {
        signal.removeEventListener('abort', abort)
        resolve()
      }
    })
  }

  /** Resolves when no call runs, so that everything that was sent is recorded. */
  async #idle(): Promise<void> {
    while (this.#slots.running > 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  #settle(outcome: CallOutcome): void {
    this.#settled.push(outcome)
    this.#wake()
  }

  /** Decides what happens with a new call. */
  async #take(call: ScriptCall): Promise<void> {
    this.#seen.add(call.id)
    if (call.kind !== 'tool') {
      this.#slots.run(async () => this.#settle(await this.#lookedUp(call)))
      return
    }
    const known = this.#known()
    const tool = toolAt(call.name, known)
    const definition = tool === undefined ? undefined : known.get(tool)
    if (tool === undefined || definition === undefined) {
      this.#record(call, call.name, 'failed', 'unknown_tool')
      this.#refuse(call, unknownPath(call.name, known), 'unknown_tool')
      return
    }
    const args = call.arguments ?? {}
    if (!isRecord(args)) {
      this.#record(call, tool, 'failed', 'invalid_arguments')
      this.#refuse(call, `Invalid arguments for ${tool}: pass one object, or nothing.`, 'invalid_arguments')
      return
    }
    const open: OpenCall = { call, tool, arguments: args, confirmation: 'none', answers: {}, rounds: 0 }
    this.#tools.set(tool, toolIdentity(definition, sha256))
    this.#record(call, tool, 'waiting')
    // What the tool would reject is not worth a question.
    if ((await this.#isValid(open)) && (await this.#needsConfirmation(definition, open))) this.#asked.set(call.id, open)
    else this.#run(open)
  }

  #known(): ReadonlyMap<string, Tool> {
    return reachableTools(this.#options.discovery, this.#options.stored)
  }

  async #lookedUp(call: ScriptCall): Promise<CallOutcome> {
    try {
      return await lookUp(this.#options.discovery, call, this.#stop.signal)
    } catch (error) {
      return { id: call.id, error: { message: errorMessage(error), reason: 'tool_failed' } }
    }
  }

  async #isValid({ tool, arguments: args }: OpenCall): Promise<boolean> {
    const { runtime, scope } = this.#options.discovery
    const inputs = inputsWith(this.#options.stored?.grants, runtime.views.inputs(scope))
    const meaning = resolveName(runtime.catalogs.of(scope).catalog, inputs, tool)
    if (meaning.kind === 'unknown') return false
    const { input, modes } = meaning.entry
    return !('problems' in (await input.check(args, modes === undefined ? undefined : runtime.views.snapshot(scope))))
  }

  async #needsConfirmation(tool: Tool, { arguments: args }: OpenCall): Promise<boolean> {
    const { settings, discovery } = this.#options
    const { runtime, scope } = discovery
    const source = runtime.catalogs.of(scope).catalog.byName.get(tool.name)?.[0]?.source ?? ''
    const decided = await settings.consent?.decide({ tool, source, arguments: args, principal: scope.settings.principal })
    const facet = decided === 'untrusted' ? 'destructive' : facetOf(tool)
    const isAsked =
      decided !== 'run' &&
      (settings.confirm === 'writes' ? facet !== 'read-only' : facet === 'destructive') &&
      settings.confirm !== 'never'
    if (!isAsked) return false
    const left = this.#granted.get(tool.name) ?? 0
    if (left > 0) this.#granted.set(tool.name, left - 1)
    return left === 0
  }

  /** Starts a call as soon as there is a slot. */
  #run(open: OpenCall): void {
    this.#slots.run(async () => {
      try {
        await this.#send(open)
      } catch (error) {
        this.#update(open.call.id, 'unknown')
        this.#settle({ id: open.call.id, error: { message: errorMessage(error), reason: 'effect_unknown' } })
      }
    })
  }

  async #send(open: OpenCall): Promise<void> {
    const { call, tool, confirmation: confirmed, answers } = open
    const { signal } = this.#stop
    const all = AbortSignal.any([signal, this.#options.signal])
    if (all.aborted) return
    await this.#journal?.add({ sent: call.id })
    this.#update(call.id, 'sent')
    const script = { run: this.id, line: call.line, confirmation: confirmed }
    const { discovery, stored } = this.#options
    const result = await makeCall(discovery, { tool, arguments: open.arguments, script, answers, grants: stored?.grants }, all)
    if (all.aborted) {
      // What it returned no longer reaches the script.
      if (!isInputRequired(result) && result.isError !== true) this.#update(call.id, 'ok')
      return
    }
    if (isInputRequired(result)) this.#waitForInput(open, result)
    else this.#finish(open, result)
  }

  #finish({ call }: OpenCall, result: CallToolResult): void {
    const outcome = outcomeOf(call.id, result, call.line)
    const reason = 'error' in outcome ? outcome.error.reason : undefined
    this.#update(call.id, reason === undefined ? 'ok' : stateOf(reason), reason)
    this.#settle(outcome)
    void this.#report()
  }

  #waitForInput(open: OpenCall, result: InputRequiredResult): void {
    const { call, rounds } = open
    const requests = requestsIn(result)
    const missing = requests.find(
      ([, request]) => missingFor(request, this.#options.discovery.call.client?.capabilities) !== undefined,
    )
    if (missing !== undefined)
      this.#fail(open, `The tool needs input (${missing[1].method}) that the client does not support.`, 'tool_failed')
    else if (rounds >= maxRounds) this.#fail(open, `The tool still required input after ${maxRounds} rounds.`, 'tool_failed')
    else if (requests.length === 0)
      this.#fail(open, 'The tool asked to be called again, which scripts do not support.', 'tool_failed')
    else {
      this.#update(call.id, 'input')
      this.#inputs.set(call.id, { open, result })
    }
  }

  #fail({ call }: OpenCall, message: string, reason: string): void {
    this.#update(call.id, stateOf(reason), reason)
    this.#refuse(call, message, reason)
  }

  #refuse({ id, line }: ScriptCall, message: string, reason: string): void {
    const where = line === undefined ? '' : `Line ${line}: `
    this.#settle({ id, error: { message: `${where}${message}`, reason } })
  }

  /** Whether the client can be asked about everything that waits. What cannot be asked is settled otherwise. */
  #askable(): boolean {
    if (this.#asked.size > 0 && !this.#canAsk()) {
      for (const open of this.#asked.values()) this.#withoutPerson(open)
      this.#asked.clear()
      return false
    }
    return true
  }

  #canAsk(): boolean {
    const { client } = this.#options.discovery.call
    if (this.#cannotAsk || client === undefined) return false
    return missingFor({ method: 'elicitation/create', params: { mode: 'form' } }, client.capabilities) === undefined
  }

  #withoutPerson(open: OpenCall): void {
    if (this.#options.settings.consent?.delegates === true) {
      this.#run({ ...open, confirmation: 'missing' })
      return
    }
    const next = 'Call it directly, not from a script, or ask the author of the server to set code.confirm.'
    this.#fail(open, `${open.tool} may change something, and this client cannot ask a person to confirm it. ${next}`, 'denied')
  }

  #state(): ScriptState {
    const { state, engine, settings, now } = this.#options
    const inputs = [...this.#inputs.values()]
    const asked = [...this.#asked.values()]
    const questions: Questions = {
      ...(asked.length > 0 && {
        [confirmKey]: confirmation(
          asked.map((each) => this.#shown(each)),
          settings.limits.calls,
        ),
      }),
      ...Object.fromEntries(
        inputs.flatMap(({ open, result }) => requestsIn(result).map(([key, request]) => [inputKey(open.call.id, key), request])),
      ),
    }
    return {
      run: this.id,
      generation: (state?.generation ?? 0) + 1,
      engine: engine.version,
      expiresAt: now() + settings.limits.answerMs,
      askedAt: now(),
      records: this.records,
      granted: Object.fromEntries(this.#granted),
      tools: Object.fromEntries(this.#tools),
      output: this.#output,
      cannotAsk: this.#cannotAsk,
      inputs: inputs.map(({ open, result }) => inputOf(open, result)),
      asked: asked.map(({ call }) => call.id),
      questions,
    }
  }

  #shown({ tool, arguments: args }: OpenCall): AskedCall {
    const { consent } = this.#options.settings
    return { tool, arguments: consent === undefined ? args : consent.redact(args) }
  }

  /** Repeats what a process did that died while it continued this script. */
  async #replayed(machine: ScriptMachine, first: ScriptTurn): Promise<ScriptTurn> {
    const events = this.#journal?.past ?? []
    const sent = new Set<number>()
    let turn = first
    for (const event of events) {
      if (turn.kind !== 'waiting') break
      if ('sent' in event) {
        sent.add(event.sent)
        continue
      }
      for (const { id, ...outcome } of event.settled) {
        sent.delete(id)
        const reason = 'error' in outcome ? outcome.error.reason : undefined
        this.#past(turn.calls, id, reason === undefined ? 'ok' : stateOf(reason), reason)
      }
      this.#output.push(...turn.output)
      turn = await machine.settle(event.settled)
    }
    if (turn.kind !== 'waiting') return turn
    for (const id of sent) {
      this.#past(turn.calls, id, 'unknown')
      const message =
        'The call was sent, and the server stopped before its result arrived. Whether it took effect is unknown: check before you repeat it.'
      this.#settle({ id, error: { message, reason: 'effect_unknown' } })
    }
    return turn
  }

  #past(calls: readonly ScriptCall[], id: number, state: CallState, reason?: string): void {
    const call = calls.find((each) => each.id === id)
    if (call === undefined || call.kind !== 'tool') return
    this.#seen.add(id)
    const { state: paused } = this.#options
    const known = this.#known()
    const tool = this.#records.get(id)?.tool ?? toolAt(call.name, known) ?? call.name
    const isAnswered = paused?.asked.includes(id) === true || paused?.inputs.some((input) => input.id === id) === true
    // It used one of the further calls that were confirmed.
    if (!isAnswered) this.#granted.set(tool, (this.#granted.get(tool) ?? 0) - 1)
    this.#record(call, tool, state, reason)
  }

  /** Applies the responses of a person to the calls that waited for them. */
  async #apply(calls: readonly ScriptCall[], state: ScriptState, responses: Readonly<Record<string, unknown>>): Promise<void> {
    const waiting = new Map(calls.filter(({ id }) => !this.#seen.has(id)).map((call) => [call.id, call]))
    for (const input of state.inputs) {
      const call = waiting.get(input.id)
      if (call === undefined) continue
      this.#seen.add(call.id)
      const answers = input.keys.flatMap((key) => {
        const response = responses[inputKey(call.id, key)]
        return response === undefined ? [] : [[key, response] as const]
      })
      this.#run({
        ...this.#reopened(call),
        answers: { inputResponses: Object.fromEntries(answers), requestState: input.requestState },
        rounds: input.rounds + 1,
      })
    }
    const asked = state.asked.flatMap((id) => waiting.get(id) ?? []).map((call) => this.#reopened(call))
    if (asked.length === 0) return
    const { settings, now } = this.#options
    const decision = decisionIn(responses[confirmKey], now() - state.askedAt, settings.limits.calls)
    for (const open of asked) {
      this.#seen.add(open.call.id)
      if (decision === undefined) {
        this.#cannotAsk = true
        this.#withoutPerson(open)
      } else if (decision.kind === 'run') this.#run({ ...open, confirmation: 'given' })
      else this.#fail(open, `A person denied the call of ${open.tool}. Do not repeat it.`, 'denied')
    }
    if (decision?.kind !== 'run' || decision.further === 0) return
    for (const tool of new Set(asked.map(({ tool: name }) => name)))
      this.#granted.set(tool, (this.#granted.get(tool) ?? 0) + decision.further)
  }

  #reopened(call: ScriptCall): OpenCall {
    const tool = this.#records.get(call.id)?.tool ?? call.name
    return { call, tool, arguments: isRecord(call.arguments) ? call.arguments : {}, confirmation: 'none', answers: {}, rounds: 0 }
  }

  #record({ id, arguments: args, line }: ScriptCall, tool: string, state: CallState, reason?: string): void {
    const record: CallRecord = {
      id,
      tool,
      arguments: shortArguments(args),
      state,
      ...(line !== undefined && { line }),
      ...(reason !== undefined && { reason }),
    }
    this.#records.set(id, record)
  }

  #update(id: number, state: CallState, reason?: string): void {
    const record = this.#records.get(id)
    if (record !== undefined) this.#records.set(id, { ...record, state, ...(reason !== undefined && { reason }) })
  }

  async #report(): Promise<void> {
    const { meta, client } = this.#options.discovery.call
    const progressToken = meta?.progressToken
    if (progressToken === undefined) return
    const done = this.records.filter(({ state }) => state !== 'waiting' && state !== 'sent' && state !== 'input').length
    if (done <= this.#reported) return
    this.#reported = done
    const total = this.#records.size
    const params = { progressToken, progress: done, total, message: `${done} of ${total} calls` }
    await client?.notify('notifications/progress', params).catch(() => undefined)
  }
}

function inputOf({ call, rounds }: OpenCall, result: InputRequiredResult): OpenInput {
  const { requestState } = result
  return {
    id: call.id,
    keys: requestsIn(result).map(([key]) => key),
    requestState: typeof requestState === 'string' ? requestState : undefined,
    rounds,
  }
}

const stateOf = (reason: string): CallState =>
  reason === 'denied' || reason === 'approval_pending'
    ? 'denied'
    : reason === 'effect_unknown' || reason === 'call_cancelled' || reason === 'tool_timeout'
      ? 'unknown'
      : 'failed'
