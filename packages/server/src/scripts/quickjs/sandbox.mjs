// @ts-check
// One QuickJS virtual machine with the harness.
import { EvalFlags, Intrinsics, JSException, QuickJS } from 'quickjs-wasi'
import { programName } from './positions.mjs'

/**
 * @typedef {import('quickjs-wasi').Snapshot} Image
 * @typedef {import('quickjs-wasi').JSValueHandle} Handle
 * @typedef {'configure' | 'run' | 'call' | 'show' | 'settle' | 'take' | 'result' | 'outstanding'} ControlName
 * @typedef {{ image: Image, controls: Record<ControlName, number> }} Base
 * @typedef {{ interrupt: () => boolean, signal: (what: string) => void, startedAt: number }} Host
 */

/** @type {readonly ControlName[]} */
const controlNames = ['configure', 'run', 'call', 'show', 'settle', 'take', 'result', 'outstanding']

// The native stack of the module has 1 MiB. V8 overflows its own stack first if this is much more.
const maxStackBytes = 256 * 1024

// eval is needed to load the program; the harness removes it from the script.
const intrinsics = Intrinsics.ALL & ~Intrinsics.PERFORMANCE & ~Intrinsics.WEAK_REF

/** Everything that the machine can learn from its host: a fixed time, UTC, and no randomness. Same input, same memory. */
const quiet = (/** @type {number} */ startedAt) => (/** @type {{ buffer: ArrayBuffer }} */ memory) => ({
  /** @type {(clock: number, precision: bigint, result: number) => number} */
  clock_time_get(_clock, _precision, result) {
    new DataView(memory.buffer).setBigUint64(result, BigInt(Math.trunc(startedAt)) * 1_000_000n, true)
    return 0
  },
  /** @type {(pointer: number, length: number) => number} */
  random_get(pointer, length) {
    new Uint8Array(memory.buffer, pointer, length).fill(0)
    return 0
  },
  /** Output of the engine itself: none. */
  fd_write: () => 8,
})

/**
 * @param {object} wasm
 * @param {Host} host
 */
const optionsFor = (wasm, { interrupt, startedAt }) => ({
  wasm,
  wasi: quiet(startedAt),
  intrinsics,
  timezoneOffset: 0,
  maxStackSize: maxStackBytes,
  interruptHandler: interrupt,
})

/**
 * Creates the machine from which all others are copied.
 * @param {object} wasm
 * @param {string} harness
 * @returns {Promise<Base>}
 */
export async function createBase(wasm, harness) {
  const host = { interrupt: () => false, signal: () => undefined, startedAt: 0 }
  const vm = await QuickJS.create(optionsFor(wasm, host))
  const signal = vm.newFunction('signal', () => vm.undefined)
  const api = vm.evalCode(harness, 'unfold').consume((install) => vm.callFunction(install, vm.undefined, signal))
  signal.dispose()
  const controls = /** @type {Record<ControlName, number>} */ ({})
  // Kept alive: the copies refer to them by their address.
  for (const name of controlNames) controls[name] = vm.exportHandle(api.getProp(name))
  return { image: imageOf(vm), controls }
}

/**
 * Returns the memory of a machine without what earlier calls left below its stack, which starts at 0 and grows down.
 * @param {QuickJS} vm
 */
function imageOf(vm) {
  vm.runGC()
  const image = vm.snapshot()
  image.memory.fill(0, 0, image.stackPointer)
  return image
}

export class Sandbox {
  #vm
  #controls

  /**
   * @param {QuickJS} vm
   * @param {Record<ControlName, number>} controls
   */
  constructor(vm, controls) {
    this.#vm = vm
    this.#controls = controls
  }

  /**
   * @param {object} wasm
   * @param {Base} base
   * @param {Image} image
   * @param {Host} host
   */
  static async open(wasm, base, image, host) {
    const vm = await QuickJS.restore(image, optionsFor(wasm, host))
    vm.registerHostCallback('signal', (what) => {
      host.signal(what?.toString() ?? '')
      return vm.undefined
    })
    return new Sandbox(vm, base.controls)
  }

  /** Size of its memory, which never shrinks. */
  get bytes() {
    return this.#exports.memory.buffer.byteLength
  }

  /** @param {number} bytes */
  limitMemory(bytes) {
    this.#exports.qjs_set_memory_limit(bytes)
  }

  /**
   * Calls a function of the harness.
   * @param {ControlName} name
   * @param {string} [text]
   * @returns {string | undefined}
   */
  call(name, text) {
    const vm = this.#vm
    return vm.withScope(() => {
      const given = text === undefined ? [] : [vm.newString(text)]
      const result = vm.callFunction(vm.importHandle(this.#controls[name]), vm.undefined, ...given)
      return result.isString ? result.toString() : undefined
    })
  }

  /**
   * Compiles a program and runs it to its first `await`.
   * @param {string} code the text of an async function
   */
  run(code) {
    const vm = this.#vm
    vm.withScope(() => {
      const program = vm.evalCode(code, programName)
      vm.callFunction(vm.importHandle(this.#controls.run), vm.undefined, program)
    })
  }

  /**
   * Loads a module, and gives its exports to a function of the harness.
   * @param {string} code
   * @param {'call' | 'show'} control
   */
  load(code, control) {
    const vm = this.#vm
    vm.withScope(() => {
      const loading = vm.evalCode(code, programName, EvalFlags.TYPE_MODULE)
      vm.callFunction(vm.importHandle(this.#controls[control]), vm.undefined, loading)
    })
  }

  /**
   * Runs jobs until none is left or `isOver` returns true.
   * @param {() => boolean} isOver
   */
  drain(isOver) {
    while (!isOver() && this.#exports.qjs_is_job_pending() !== 0)
      if (this.#exports.qjs_execute_pending_job() < 0) throw new JSException(this.#privates.getException())
  }

  image() {
    return imageOf(this.#vm)
  }

  /** Functions of the module that the package does not export: it can only run all jobs, and set limits at the start. */
  get #privates() {
    return /** @type {{ exports: any, getException: () => Handle }} */ (/** @type {unknown} */ (this.#vm))
  }

  get #exports() {
    return this.#privates.exports
  }
}
