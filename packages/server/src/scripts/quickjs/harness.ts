/** Changes with every change of `harness`: a snapshot contains the harness of the process that took it. */
export const harnessVersion = 2

/**
 * What scripts find in their machine: `tools`, `search`, `describe`, `input`, `console`, `ToolError`. It runs before the script in the
 * same realm, so it must not depend on anything that the script can change afterwards: it captures the functions it needs, keeps its
 * state in closures, uses no arrays that inherit setters (text is concatenated instead), and hands out only frozen objects. Values
 * enter and leave as JSON text. The host calls the functions of its completion value; the script reaches neither these nor `signal`,
 * which interrupts the machine.
 */
export const harness = String.raw`(function (signal) {
'use strict'
const { apply, setPrototypeOf } = Reflect
const { create, defineProperty, freeze, getOwnPropertyDescriptor } = Object
const { isArray } = Array
const { parse, stringify } = JSON
const { floor } = Math
const { isError } = Error
const ErrorOf = Error
const TypeErrorOf = TypeError
const RangeErrorOf = RangeError
const PromiseOf = Promise
const ProxyOf = Proxy
const textOf = String
const then = Promise.prototype.then
const slice = String.prototype.slice
const symbolText = Symbol.prototype.toString
const stackOf = getOwnPropertyDescriptor(Error.prototype, 'stack').get

const lock = (target, name, value, enumerable) =>
  defineProperty(target, name, { __proto__: null, value, enumerable: enumerable === true, writable: false, configurable: false })
const hide = (target, name, value) =>
  defineProperty(target, name, { __proto__: null, value, enumerable: false, writable: true, configurable: true })

// Call sites give out the functions of a stack, including those of this harness.
lock(Error, 'prepareStackTrace', undefined)
lock(Error, 'stackTraceLimit', 10)
Reflect.deleteProperty(Error, 'captureStackTrace')

// A person approves the text of a script, so it must not make code at run time. Shared memory could block the thread.
const blocked = (name) => {
  const replacement = { [name]() { throw new EvalError(name + ' is not available in scripts') } }[name]
  return replacement
}
const blockedConstructor = function Function() { throw new EvalError('Function is not available in scripts') }
for (const sample of [function () {}, async function () {}, function* () {}, async function* () {}]) {
  const prototype = Reflect.getPrototypeOf(sample)
  lock(prototype, 'constructor', blockedConstructor)
}
lock(blockedConstructor, 'prototype', Function.prototype)
lock(globalThis, 'Function', freeze(blockedConstructor))
lock(globalThis, 'eval', freeze(blocked('eval')))
for (const name of ['Atomics', 'SharedArrayBuffer', 'WeakRef', 'FinalizationRegistry', 'performance', 'gc', 'std', 'os'])
  Reflect.deleteProperty(globalThis, name)

// JSON would turn both into {}.
const entriesOf = Map.prototype.entries
const valuesOf = Set.prototype.values
const listOf = (iterator, next) => {
  const list = []
  for (;;) {
    const step = apply(next, iterator, [])
    if (step.done) return list
    defineProperty(list, list.length, { __proto__: null, value: step.value, enumerable: true, writable: true, configurable: true })
  }
}
const nextEntry = new Map().entries().next
const nextValue = new Set().values().next
hide(Map.prototype, 'toJSON', freeze({ toJSON() { return listOf(apply(entriesOf, this, []), nextEntry) } }.toJSON))
hide(Set.prototype, 'toJSON', freeze({ toJSON() { return listOf(apply(valuesOf, this, []), nextValue) } }.toJSON))

// sfc32
let seedA = 0
let seedB = 0
let seedC = 0
let seedD = 1
const random32 = () => {
  const sum = (seedA + seedB + seedD) | 0
  seedD = (seedD + 1) | 0
  seedA = seedB ^ (seedB >>> 9)
  seedB = (seedC + (seedC << 3)) | 0
  seedC = ((seedC << 21) | (seedC >>> 11)) + sum | 0
  return sum >>> 0
}
hide(Math, 'random', freeze({ random() { return (random32() * 2097152 + (random32() >>> 11)) / 9007199254740992 } }.random))

let limits = create(null)
let input
let state = 'running'
let resultText
let errorText
let newCalls = ''
let newCallsLength = 0
let lines = ''
let printed = 0
let isCut = false
let callCount = 0
let outstanding = 0
const pending = create(null)

const stop = (limit) => {
  signal(limit)
  // The machine is interrupted within the next operations; until then nothing may go on here.
  for (;;);
}

class ToolError extends ErrorOf {
  constructor(message, reason, tool, data, stack) {
    super(message)
    hide(this, 'stack', 'ToolError: ' + message + '\n' + stack)
    lock(this, 'reason', reason, true)
    lock(this, 'tool', tool, true)
    if (data !== undefined) lock(this, 'data', data, true)
  }
}
lock(ToolError.prototype, 'name', 'ToolError')
freeze(ToolError.prototype)
freeze(ToolError)

const refused = async (error) => { throw error }

// Not inside the executor of a promise or an async function, which would catch what interrupts the script.
const request = (kind, name, toValues) => {
  if (callCount >= limits.calls) stop('calls')
  if (outstanding >= limits.parallelCalls) stop('parallelCalls')
  const stack = apply(stackOf, new ErrorOf(''), [])
  let text
  try {
    text = stringify(toValues())
    if (typeof text !== 'string') throw new TypeErrorOf('The arguments have no representation as JSON')
    if (text.length + newCallsLength > limits.argumentCharacters)
      throw new RangeErrorOf(
        'The arguments of the calls that were made at once exceed ' + limits.argumentCharacters +
        ' characters of JSON. Await earlier calls first, or pass less.',
      )
  } catch (error) {
    return refused(error)
  }
  const id = callCount + 1
  const record =
    '{"id":' + id + ',"kind":"' + kind + '","name":' + stringify(name) + ',"stack":' + stringify(stack) +
    ',"arguments":' + stringify(text) + '}'
  const call = { __proto__: null, record, name, stack, resolve: undefined, reject: undefined }
  const promise = new PromiseOf((resolve, reject) => {
    call.resolve = resolve
    call.reject = reject
  })
  callCount = id
  outstanding++
  newCallsLength += text.length
  pending[id] = call
  newCalls += newCalls === '' ? record : ',' + record
  return promise
}

const fieldsOf = (what, value) => {
  if (value === undefined) return {}
  if (typeof value !== 'object' || value === null || isArray(value))
    throw new TypeErrorOf(what + ' takes one object with its arguments')
  return value
}

const callTool = (path, values) =>
  request('tool', path, () => {
    if (path === '') throw new TypeErrorOf('tools is not a function: call tools.<server>.<tool>({ ... })')
    return fieldsOf(path, values.length > 1 ? null : values[0])
  })

const toolsAt = (path) =>
  new ProxyOf(() => undefined, {
    __proto__: null,
    get: (_target, key) => {
      // A promise would call "then", and JSON.stringify "toJSON".
      if (typeof key !== 'string' || key === 'then' || key === 'toJSON') return undefined
      if (path !== '' && (key === 'toString' || key === 'valueOf')) return freeze(() => '[tool ' + path + ']')
      return toolsAt(path === '' ? key : path + '.' + key)
    },
    apply: (_target, _self, values) => callTool(path, values),
    has: () => false,
    ownKeys: () => [],
    getOwnPropertyDescriptor: () => undefined,
    getPrototypeOf: () => null,
    setPrototypeOf: () => false,
    defineProperty: () => false,
    deleteProperty: () => false,
    preventExtensions: () => false,
    set: () => false,
  })

const search = (query, options) =>
  request('search', 'search', () => {
    if (typeof query !== 'string') throw new TypeErrorOf('search takes the query as text, and optionally an object with options')
    return { ...fieldsOf('search', options), query }
  })
const describe = (names, options) =>
  request('describe', 'describe', () => {
    const list = typeof names === 'string' ? [names] : names
    if (!isArray(list)) throw new TypeErrorOf('describe takes a list of tool names')
    return { ...fieldsOf('describe', options), names: list }
  })

const show = (value) => {
  switch (typeof value) {
    case 'string':
      return value
    case 'bigint':
      return textOf(value) + 'n'
    case 'symbol':
      return apply(symbolText, value, [])
    case 'function':
      return '[function]'
    case 'object':
      if (value === null) return 'null'
      try {
        return isError(value) ? textOf(value.name) + ': ' + textOf(value.message) : textOf(stringify(value))
      } catch {
        return '[object that cannot be shown as JSON]'
      }
    default:
      return textOf(value)
  }
}
const print = (values) => {
  let line = ''
  for (let index = 0; index < values.length; index++) line += (index === 0 ? '' : ' ') + show(values[index])
  printed += line.length + 1
  if (printed > limits.outputCharacters * 10) stop('output')
  if (isCut) return
  const excess = printed - limits.outputCharacters
  if (excess > 0) {
    isCut = true
    line = apply(slice, line, [0, line.length + 1 > excess ? line.length + 1 - excess : 0]) +
      ' [output cut: limit of ' + limits.outputCharacters + ' characters]'
  }
  lines += (lines === '' ? '' : ',') + stringify(line)
}
const console = create(null)
for (const name of ['log', 'info', 'warn', 'error', 'debug']) lock(console, name, freeze((...values) => print(values)), true)
freeze(console)

const known = { tools: toolsAt(''), search: freeze(search), describe: freeze(describe), console, ToolError }
for (const name of ['tools', 'search', 'describe', 'console', 'ToolError']) lock(globalThis, name, known[name], true)

const property = (value, name) => {
  try {
    const found = value[name]
    return typeof found === 'string' ? found : undefined
  } catch {
    return undefined
  }
}
const textField = (name, value, maximum) =>
  value === undefined ? '' : ',"' + name + '":' + stringify(apply(slice, value, [0, maximum]))

const threw = (error) => {
  const isObject = typeof error === 'object' && error !== null
  const name = isObject ? property(error, 'name') : undefined
  const message = isObject ? property(error, 'message') : undefined
  errorText =
    '{"name":' + stringify(name === undefined || name === '' ? 'Error' : apply(slice, name, [0, 200])) +
    textField('message', message === undefined ? show(error) : message, 10000) +
    textField('stack', isObject ? property(error, 'stack') : undefined, 10000) + '}'
  state = 'threw'
  signal('end')
}
const returned = (value) => {
  let text
  try {
    text = stringify(value)
  } catch (error) {
    threw(error)
    return
  }
  if (text !== undefined && text.length > limits.resultBytes) stop('result')
  resultText = text
  state = 'returned'
  signal('end')
}

return freeze({
  __proto__: null,
  configure: (text) => {
    const options = parse(text)
    limits = setPrototypeOf(options.limits, null) ? freeze(options.limits) : limits
    if (!options.isNew) return
    seedA = options.seed | 0
    seedB = 0x9e3779b9 | 0
    seedC = 0x243f6a88 | 0
    for (let round = 0; round < 12; round++) random32()
    lock(globalThis, 'input', options.input, true)
  },
  run: (program) => {
    apply(then, apply(program, undefined, []), [returned, threw])
  },
  // A module arrives as the promise of its exports.
  call: (loading) => {
    const called = async (module) => {
      if (typeof module.default !== 'function') throw new TypeErrorOf('The script has no default export that is a function')
      return module.default(globalThis.input)
    }
    apply(then, apply(then, loading, [called]), [returned, threw])
  },
  show: (loading) => {
    const shown = (module) => {
      const { default: main, ...exports } = module
      return { __proto__: null, type: typeof main, exports }
    }
    apply(then, apply(then, loading, [shown]), [returned, threw])
  },
  settle: (text) => {
    const outcomes = parse(text)
    for (let index = 0; index < outcomes.length; index++) {
      const outcome = outcomes[index]
      const call = pending[outcome[0]]
      if (call === undefined) continue
      delete pending[outcome[0]]
      outstanding--
      if (outcome[1] === 1) call.resolve(outcome[2])
      else {
        const { message, reason, data } = outcome[2]
        call.reject(new ToolError(message, reason, call.name, data, call.stack))
      }
    }
  },
  take: () => {
    const text = '{"state":"' + state + '","calls":[' + newCalls + '],"output":[' + lines + ']' +
      (errorText === undefined ? '' : ',"error":' + errorText) + '}'
    newCalls = ''
    newCallsLength = 0
    lines = ''
    return text
  },
  result: () => resultText,
  outstanding: () => {
    let text = ''
    for (const id in pending) text += (text === '' ? '' : ',') + pending[id].record
    return '[' + text + ']'
  },
})
})`
