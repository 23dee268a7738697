// @ts-check
import { JSException } from 'quickjs-wasi'
import { Meter } from './meter.mjs'
import { frames, placeOf } from './positions.mjs'
import { Sandbox } from './sandbox.mjs'

/**
 * @typedef {import('@unfold-mcp/core').ScriptLimit} StoppedBy
 * @typedef {import('./messages.ts').WorkerStop} WorkerStop
 * @typedef {import('./messages.ts').WorkerTurn} WorkerTurn
 * @typedef {import('../engine.ts').ScriptLimits} Limits
 * @typedef {import('../engine.ts').ScriptError} ScriptError
 * @typedef {import('./sandbox.mjs').Base} Base
 * @typedef {import('./sandbox.mjs').Image} Image
 * @typedef {{ name: string, message?: string | undefined, stack?: string | undefined }} Thrown
 * @typedef {{ id: number, kind: 'tool' | 'search' | 'describe', name: string, arguments: string, stack: string }} CallRecord
 * @typedef {{ state: 'running' | 'returned' | 'threw', calls: CallRecord[], output: string[], error?: Thrown }} Report
 */

// The program is the body of an async function, so that it can await and return. Its first line is shifted by the length of `head`.
const head = '(async function () {"use strict";'
const tail = '\n})'

// A module is shifted as much, so that a restored machine need not know what it runs.
const moduleHead = ' '.repeat(head.length)

// The main thread parses the arguments of all calls that were made at once.
const argumentCharacters = 4 * 1024 * 1024

// Lets the harness report why a script with a full memory ended.
const reserveBytes = 4 * 1024 * 1024

const deadlock = {
  name: 'Error',
  message: 'The script waits for a promise that nothing settles: no call is running. A script has no timers.',
}

/** One script in its machine. Each turn ends with a reply; after a `stopped` reply, the session must not be used. */
export class Session {
  #limits
  #meter
  /** @type {Sandbox | undefined} */
  #sandbox
  /** @type {StoppedBy | undefined} */
  #stoppedBy
  #isOver = false
  #isReporting = false
  #lines = Number.POSITIVE_INFINITY
  /** @type {Set<number>} */
  #outstanding = new Set()

  /**
   * @param {Limits} limits
   * @param {number} cpuMs
   */
  constructor(limits, cpuMs) {
    this.#limits = limits
    this.#meter = new Meter(cpuMs, limits.cpuMs)
  }

  get cpuMs() {
    return this.#meter.usedMs
  }

  /**
   * @param {object} wasm
   * @param {Base} base
   * @param {Image} image
   * @param {number} startedAt
   */
  async open(wasm, base, image, startedAt) {
    this.#sandbox = await Sandbox.open(wasm, base, image, {
      startedAt,
      interrupt: () => this.#mustStop(),
      signal: (what) => {
        this.#isOver = true
        if (what !== 'end') this.#stoppedBy ??= /** @type {StoppedBy} */ (what)
      },
    })
    this.#sandbox.limitMemory(this.#limits.memoryBytes)
  }

  /**
   * @param {{ source: string, form: import('../engine.ts').ProgramForm }} program
   * @param {string | undefined} input
   * @param {number} seed
   * @param {number} wallMs
   */
  start({ source, form }, input, seed, wallMs) {
    this.#lines = source.split('\n').length
    return this.#turn(wallMs, () => {
      this.#configure(`"isNew":true,"seed":${seed}${input === undefined ? '' : `,"input":${input}`}`)
      if (form === 'body') this.#machine.run(`${head}${this.#fitting(source)}${tail}`)
      else this.#machine.load(`${moduleHead}${this.#fitting(source)}`, form === 'module' ? 'call' : 'show')
    })
  }

  /**
   * Returns the turn at which the machine was saved.
   * @param {number} wallMs
   */
  resume(wallMs) {
    /** @type {CallRecord[]} */
    let calls = []
    const reply = this.#turn(wallMs, () => {
      this.#configure('"isNew":false')
      calls = JSON.parse(this.#machine.call('outstanding') ?? '[]')
      for (const { id } of calls) this.#outstanding.add(id)
    })
    if (reply.kind !== 'turn' || reply.end.kind !== 'waiting') return reply
    return { ...reply, end: { kind: /** @type {const} */ ('waiting'), calls: calls.map(toCall) } }
  }

  /**
   * @param {string} outcomes
   * @param {number} wallMs
   */
  settle(outcomes, wallMs) {
    return this.#turn(wallMs, () => {
      for (const [id] of JSON.parse(outcomes)) this.#outstanding.delete(id)
      this.#machine.call('settle', this.#fitting(outcomes))
    })
  }

  image() {
    return this.#machine.image()
  }

  /**
   * @param {number} wallMs
   * @param {() => void} action
   * @returns {WorkerTurn | WorkerStop}
   */
  #turn(wallMs, action) {
    this.#isOver = false
    this.#meter.start(wallMs)
    /** @type {Thrown | undefined} */
    let thrown
    try {
      action()
      this.#machine.drain(() => this.#isOver || this.#mustStop())
    } catch (error) {
      thrown = this.#thrown(error)
    } finally {
      this.#meter.end()
    }
    const report = this.#report()
    const error = thrown ?? report.error
    if (error !== undefined) this.#stoppedBy ??= this.#limitOf(error)
    const value = report.state === 'returned' && this.#stoppedBy === undefined ? this.#machine.call('result') : undefined
    if (value !== undefined && Buffer.byteLength(value) > this.#limits.resultBytes) this.#stoppedBy ??= 'result'
    const use = { output: report.output, cpuMs: this.cpuMs, memoryBytes: this.#machine.bytes }
    if (this.#stoppedBy !== undefined) return { kind: 'stopped', by: this.#stoppedBy, ...use }
    return { kind: 'turn', ...use, end: this.#end(report, error, value) }
  }

  /**
   * @param {Report} report
   * @param {Thrown | undefined} error
   * @param {string | undefined} value
   * @returns {WorkerTurn['end']}
   */
  #end({ state, calls }, error, value) {
    if (error !== undefined) return { kind: 'threw', error: this.#located(error) }
    for (const { id } of calls) this.#outstanding.add(id)
    // Calls that the script did not await are still made.
    if (state === 'returned' && calls.length === 0) return { kind: 'returned', value }
    if (state === 'running' && this.#outstanding.size === 0) return { kind: 'threw', error: deadlock }
    return { kind: 'waiting', calls: calls.map(toCall) }
  }

  /** Returns what the script did since the last report; nothing if its machine no longer works. */
  #report() {
    const empty = /** @type {Report} */ ({ state: 'running', calls: [], output: [] })
    this.#isReporting = true
    this.#machine.limitMemory(this.#limits.memoryBytes + reserveBytes)
    try {
      return /** @type {Report} */ (JSON.parse(this.#machine.call('take') ?? JSON.stringify(empty)))
    } catch {
      this.#stoppedBy ??= 'memory'
      return empty
    } finally {
      this.#machine.limitMemory(this.#limits.memoryBytes)
      this.#isReporting = false
    }
  }

  #mustStop() {
    if (this.#isReporting) return false
    if (this.#stoppedBy === undefined) this.#stoppedBy = this.#meter.reached()
    return this.#stoppedBy !== undefined
  }

  /**
   * Returns what the machine threw out of a call of the host. What the script itself throws arrives with the report.
   * @param {unknown} error
   * @returns {Thrown | undefined}
   */
  #thrown(error) {
    if (error instanceof JSException) {
      const { name, message, stack } = error
      return this.#stoppedBy === undefined ? { name, message, stack } : undefined
    }
    if (error instanceof TooLarge || String(error).includes('wasm_malloc')) this.#stoppedBy ??= 'memory'
    // V8 ran out of stack inside the machine, or the machine overwrote the end of its own.
    else if (error instanceof RangeError || (error instanceof Error && error.name === 'RuntimeError')) this.#stoppedBy ??= 'stack'
    else throw error
    return undefined
  }

  /** @param {string} fields */
  #configure(fields) {
    const { calls, parallelCalls = calls, outputCharacters, resultBytes } = this.#limits
    const limits = JSON.stringify({ calls, parallelCalls, outputCharacters, resultBytes, argumentCharacters })
    this.#machine.call('configure', this.#fitting(`{"limits":${limits},${fields}}`))
  }

  /**
   * Text is copied into the machine before its memory limit applies.
   * @param {string} text
   */
  #fitting(text) {
    if (text.length * 2 > this.#limits.memoryBytes) throw new TooLarge()
    return text
  }

  /**
   * @param {Thrown} thrown
   * @returns {ScriptError}
   */
  #located({ name, message = '', stack = '' }) {
    const place = placeOf(stack, head.length)
    if (place !== undefined && place.line > this.#lines)
      return { name, message: 'unexpected end of the script', line: this.#lines }
    const text = frames(stack, head.length)
    return { name, message, ...place, ...(text !== '' && { stack: text }) }
  }

  /**
   * Limits that reach the script as exceptions, which it did not catch.
   * @param {Thrown} error
   * @returns {StoppedBy | undefined}
   */
  #limitOf({ name, message = '' }) {
    if (name === 'InternalError' && message.startsWith('out of memory')) return 'memory'
    // Without memory for an error, the machine throws null.
    if (message === 'null' && this.#machine.bytes > this.#limits.memoryBytes / 2) return 'memory'
    if (name === 'RangeError' && message === 'Maximum call stack size exceeded') return 'stack'
    return undefined
  }

  get #machine() {
    if (this.#sandbox === undefined) throw new Error('The session is not open.')
    return this.#sandbox
  }
}

class TooLarge extends Error {}

/** @param {CallRecord} record */
const toCall = ({ stack, ...call }) => ({ ...call, line: placeOf(stack, head.length)?.line })
