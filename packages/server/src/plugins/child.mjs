// @ts-check
// Runs one plugin in a process of its own: loads its module, tells the server what tools it has, and answers calls of them.
// Messages are lines of JSON over the pipe on file descriptor 3. Plain JavaScript that needs nothing but Node, so that it
// starts quickly and runs from the sources as it does from the package.
import { Socket } from 'node:net'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'

/**
 * @typedef {{ kind: 'load', file: string, mostBytes: number, tools?: readonly Record<string, unknown>[] }} Load
 * @typedef {{ kind: 'call', id: number, tool: string, input: unknown } | { kind: 'cancel', id: number }} Request
 * @typedef {(input: unknown, ctx: object) => unknown} Handler
 * @typedef {{ handler: Handler, check?: (value: unknown) => unknown }} Runnable
 */

const [mostMemory = '0'] = process.argv.slice(2)
new Worker(new URL('./lifeline.mjs', import.meta.url), { workerData: { fd: 4, mostBytes: Number(mostMemory) } }).unref()

const channel = new Socket({ fd: 3, readable: true, writable: true })
/** @type {Map<string, Runnable>} */
const runnables = new Map()
/** @type {Map<number, AbortController>} */
const calls = new Map()
let mostBytes = 0

listen(
  /** @param {Load | Request} message */ (message) => {
    if (message.kind === 'load') void load(message)
    else if (message.kind === 'call') void call(message)
    else cancel(message.id)
  },
)

/** @param {(message: any) => void} take */
function listen(take) {
  /** @type {string[]} */
  let parts = []
  channel.setEncoding('utf8')
  channel.on('data', (chunk) => {
    const [first = '', ...others] = String(chunk).split('\n')
    parts.push(first)
    for (const other of others) {
      take(JSON.parse(parts.join('')))
      parts = [other]
    }
  })
  channel.on('end', leave).on('error', leave)
}

/** Ends because the server is gone, or wants no more of this plugin: first what the plugin does at its end, then all it started. */
function leave() {
  process.once('exit', () => process.kill(process.platform === 'win32' ? process.pid : -process.pid, 'SIGKILL'))
  process.exit(0)
}

/** @param {Load} request */
async function load({ file, mostBytes: most, tools }) {
  mostBytes = most
  try {
    const found = await import(pathToFileURL(file).href)
    send(tools === undefined ? exported(found.default) : declared(tools, found))
  } catch (error) {
    send({ kind: 'failed', message: errorMessage(error), where: whereOf(error, file) })
  }
}

/**
 * What a module exports: a plugin, or its tools alone.
 * @param {any} given
 */
function exported(given) {
  const plugin = Array.isArray(given) ? { tools: given } : given
  if (typeof plugin !== 'object' || plugin === null || !Array.isArray(plugin.tools))
    throw new TypeError('its default export is no plugin. Export { name, tools: [...] }, or the tools alone')
  const { name, group } = plugin
  return { kind: 'loaded', name, group, tools: plugin.tools.map(definitionOf) }
}

/**
 * The tools of a manifest, whose handlers the module exports under their names.
 * @param {readonly Record<string, unknown>[]} tools
 * @param {any} found
 */
function declared(tools, found) {
  const made = tools.map((tool) => {
    const name = String(tool.name)
    const own = Object.hasOwn(found, name) ? found[name] : undefined
    const fallback = found.default
    const isTable = typeof fallback === 'object' && fallback !== null && Object.hasOwn(fallback, name)
    return definitionOf({ ...tool, handler: own ?? (isTable ? fallback[name] : undefined) })
  })
  return { kind: 'loaded', tools: made }
}

/**
 * The definition of a tool as JSON can hold it; its handler is kept here.
 * @param {any} tool
 */
function definitionOf(tool) {
  const { name, handler, inputSchema, outputSchema, ...rest } = Object(tool)
  if (typeof name !== 'string') throw new TypeError('a tool has no name')
  if (typeof handler !== 'function') throw new TypeError(`the tool "${name}" has no handler`)
  if (runnables.has(name)) throw new TypeError(`the tool "${name}" is declared twice`)
  const input = jsonSchemaOf(name, inputSchema, 'input')
  runnables.set(name, { handler, ...(input !== inputSchema && { check: checkOf(inputSchema) }) })
  return { ...rest, name, inputSchema: input, outputSchema: jsonSchemaOf(name, outputSchema, 'output') }
}

/**
 * JSON Schema as it is; what a schema library made shows itself as such.
 * @param {string} tool
 * @param {any} schema
 * @param {'input' | 'output'} io
 */
function jsonSchemaOf(tool, schema, io) {
  const standard = schema?.['~standard']
  if (standard === undefined) {
    const vendor = Object.values(Object(schema)).find((value) => value?.['~standard'] !== undefined)?.['~standard'].vendor
    if (vendor === undefined) return schema
    const wrapper = vendor === 'zod' ? 'z.object(…)' : 'an object schema'
    throw new TypeError(
      `the ${io} schema of tool "${tool}" is a plain object that holds ${vendor} schemas: wrap it in ${wrapper}`,
    )
  }
  if (standard.jsonSchema === undefined)
    throw new TypeError(`a schema of ${standard.vendor} cannot show itself as JSON Schema. Write JSON Schema instead`)
  return { type: 'object', ...standard.jsonSchema[io]({ target: 'draft-2020-12' }) }
}

/**
 * Fills in defaults and the rest that a schema of a library does beside checking.
 * @param {any} schema
 * @returns {(value: unknown) => Promise<unknown>}
 */
function checkOf(schema) {
  return async (value) => {
    const result = await schema['~standard'].validate(value)
    if (result.issues === undefined) return result.value
    const problems = result.issues.map(
      (/** @type {any} */ { path = [], message }) => `${path.map(partOf).join('.') || 'arguments'}: ${message}`,
    )
    throw Object.assign(new Error(`The arguments are not valid:\n- ${problems.join('\n- ')}`), { name: 'ToolError' })
  }
}

const partOf = (/** @type {any} */ part) => String(typeof part === 'object' ? part.key : part)

/** @param {Extract<Request, { kind: 'call' }>} request */
async function call({ id, tool, input }) {
  const controller = new AbortController()
  calls.set(id, controller)
  try {
    const runnable = runnables.get(tool)
    if (runnable === undefined) throw new Error(`There is no tool "${tool}".`)
    const checked = runnable.check === undefined ? input : await runnable.check(input)
    const value = await runnable.handler(checked, contextOf(id, controller.signal))
    answer(id, value)
  } catch (error) {
    send({ kind: 'error', id, message: errorMessage(error), foreseen: Object(error).name === 'ToolError' })
  } finally {
    calls.delete(id)
  }
}

/**
 * @param {number} id
 * @param {unknown} value
 */
function answer(id, value) {
  const text = JSON.stringify({ kind: 'result', id, value, foreign: foreignClass(value) })
  if (Buffer.byteLength(text) <= mostBytes) channel.write(`${text}\n`)
  else send({ kind: 'error', id, message: `The result is larger than ${mostBytes} bytes. Ask for less at once.`, foreseen: true })
}

/**
 * The class of an object that JSON would empty on the way to the server; the server words the error.
 * @param {unknown} value
 */
function foreignClass(value) {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || 'toJSON' in value) return undefined
  const prototype = Object.getPrototypeOf(value)
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return undefined
  return 'content' in value || 'resultType' in value ? undefined : Object(value.constructor).name || 'an anonymous class'
}

/** @param {number} id */
function cancel(id) {
  calls.get(id)?.abort(new Error('The call was cancelled.'))
  send({ kind: 'cancelled', id })
}

// More often nobody can read it, and a handler that tells of each of a million steps would keep everybody busy.
const progressEveryMs = 50
const mostLogs = 1_000

/**
 * @param {number} id
 * @param {AbortSignal} signal
 */
function contextOf(id, signal) {
  let toldAt = Number.NEGATIVE_INFINITY
  let logs = 0
  return {
    signal,
    /** @type {(progress: number, total?: number, message?: string) => void} */
    progress(progress, total, message) {
      const now = performance.now()
      if (now - toldAt < progressEveryMs && progress !== total) return
      toldAt = now
      send({ kind: 'progress', id, progress, total, message })
    },
    /** @type {(level: string, data: unknown) => void} */
    log(level, data) {
      if (logs++ < mostLogs) send({ kind: 'log', id, level, data })
    },
  }
}

/** @param {object} message */
function send(message) {
  const text = JSON.stringify(message)
  if (mostBytes === 0 || Buffer.byteLength(text) <= mostBytes) channel.write(`${text}\n`)
}

const longest = 10_000

/** @param {unknown} error */
function errorMessage(error) {
  try {
    const said = typeof error === 'object' && error !== null && 'message' in error ? error.message : error
    return String(said).slice(0, longest)
  } catch {
    return ''
  }
}

/**
 * The line of the plugin that an error comes from, as Node shows it.
 * @param {unknown} error
 * @param {string} file
 */
function whereOf(error, file) {
  const stack = String(Object(error).stack ?? '')
  const [, line] = stack.split(pathToFileURL(file).href)[1]?.match(/^:(\d+)/) ?? stack.split(file)[1]?.match(/^:(\d+)/) ?? []
  return line === undefined ? undefined : Number(line)
}
