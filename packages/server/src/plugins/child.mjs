// @ts-check
// Runs one plugin in its own process: loads its module, sends its tool definitions to the server, and runs calls.
// Messages are lines of JSON over the pipe on file descriptor 3. Plain JavaScript without dependencies, so that it starts quickly
// and runs both from the sources and from the package.
import { Socket } from 'node:net'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'

/**
 * @typedef {{ kind: 'load', file: string, maxMessageBytes: number, tools?: readonly Record<string, unknown>[] }} Load
 * @typedef {{ kind: 'call', id: number, tool: string, input: unknown } | { kind: 'cancel', id: number }} Request
 * @typedef {(input: unknown, ctx: object) => unknown} Handler
 * @typedef {{ handler: Handler, check?: (value: unknown) => unknown }} Runnable
 */

const [maxMemory = '0'] = process.argv.slice(2)
new Worker(new URL('./watchdog.mjs', import.meta.url), { workerData: { fd: 4, maxBytes: Number(maxMemory) } }).unref()

const channel = new Socket({ fd: 3, readable: true, writable: true })
/** @type {Map<string, Runnable>} */
const runnables = new Map()
/** @type {Map<number, AbortController>} */
const calls = new Map()
let maxBytes = 0

listen(
  /** @param {Load | Request} message */ (message) => {
    if (message.kind === 'load') void load(message)
    else if (message.kind === 'call') void call(message)
    else cancel(message.id)
  },
)

/** @param {(message: any) => void} onMessage */
function listen(onMessage) {
  /** @type {string[]} */
  let parts = []
  channel.setEncoding('utf8')
  channel.on('data', (chunk) => {
    const [first = '', ...others] = String(chunk).split('\n')
    parts.push(first)
    for (const other of others) {
      onMessage(JSON.parse(parts.join('')))
      parts = [other]
    }
  })
  channel.on('end', shutDown).on('error', shutDown)
}

/** Runs the plugin's exit handlers, then kills every process it started. */
function shutDown() {
  process.once('exit', () => process.kill(process.platform === 'win32' ? process.pid : -process.pid, 'SIGKILL'))
  process.exit(0)
}

/** @param {Load} request */
async function load({ file, maxMessageBytes, tools }) {
  maxBytes = maxMessageBytes
  try {
    const module = await import(pathToFileURL(file).href)
    send(tools === undefined ? readPlugin(module.default) : readManifestTools(tools, module))
  } catch (error) {
    send({ kind: 'failed', message: errorMessage(error), line: lineOf(error, file) })
  }
}

/**
 * Reads the default export of a module: a plugin, or an array of tools.
 * @param {any} value
 */
function readPlugin(value) {
  const plugin = Array.isArray(value) ? { tools: value } : value
  if (typeof plugin !== 'object' || plugin === null || !Array.isArray(plugin.tools))
    throw new TypeError('its default export is not a plugin. Export { name, tools: [...] } or an array of tools')
  const { name, group } = plugin
  return { kind: 'loaded', name, group, tools: plugin.tools.map(register) }
}

/**
 * Combines the tools of a manifest with the handlers that the module exports under their names.
 * @param {readonly Record<string, unknown>[]} tools
 * @param {any} module
 */
function readManifestTools(tools, module) {
  const definitions = tools.map((tool) => {
    const name = String(tool.name)
    const own = Object.hasOwn(module, name) ? module[name] : undefined
    const fallback = module.default
    const isTable = typeof fallback === 'object' && fallback !== null && Object.hasOwn(fallback, name)
    return register({ ...tool, handler: own ?? (isTable ? fallback[name] : undefined) })
  })
  return { kind: 'loaded', tools: definitions }
}

/**
 * Keeps the handler of a tool and returns its definition as JSON.
 * @param {any} tool
 */
function register(tool) {
  const { name, handler, inputSchema, outputSchema, ...rest } = Object(tool)
  if (typeof name !== 'string') throw new TypeError('a tool has no name')
  if (typeof handler !== 'function') throw new TypeError(`the tool "${name}" has no handler`)
  if (runnables.has(name)) throw new TypeError(`the tool "${name}" is declared twice`)
  const input = toJsonSchema(name, inputSchema, 'input')
  runnables.set(name, { handler, ...(input !== inputSchema && { check: validator(name, inputSchema) }) })
  return { ...rest, name, inputSchema: input, outputSchema: toJsonSchema(name, outputSchema, 'output') }
}

/**
 * Returns the schema as JSON Schema.
 * @param {string} tool
 * @param {any} schema
 * @param {'input' | 'output'} io
 */
function toJsonSchema(tool, schema, io) {
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
    throw new TypeError(`the ${standard.vendor} schema cannot be converted to JSON Schema. Write JSON Schema instead`)
  return { type: 'object', ...standard.jsonSchema[io]({ target: 'draft-2020-12' }) }
}

/**
 * Validates with the schema library itself, which also fills in defaults and transforms.
 * @param {string} tool
 * @param {any} schema
 * @returns {(value: unknown) => Promise<unknown>}
 */
function validator(tool, schema) {
  return async (value) => {
    const result = await schema['~standard'].validate(value)
    if (result.issues === undefined) return result.value
    const problems = result.issues.map(
      (/** @type {any} */ { path = [], message }) => `${path.map(pathPart).join('.') || 'arguments'}: ${message}`,
    )
    throw Object.assign(new Error(`Invalid arguments for ${tool}:\n- ${problems.join('\n- ')}`), { name: 'ToolError' })
  }
}

const pathPart = (/** @type {any} */ part) => String(typeof part === 'object' ? part.key : part)

/** @param {Extract<Request, { kind: 'call' }>} request */
async function call({ id, tool, input }) {
  const controller = new AbortController()
  calls.set(id, controller)
  try {
    const runnable = runnables.get(tool)
    if (runnable === undefined) throw new Error(`Unknown tool "${tool}".`)
    const checked = runnable.check === undefined ? input : await runnable.check(input)
    sendResult(id, await runnable.handler(checked, createContext(id, controller.signal)))
  } catch (error) {
    const { name, reason = 'tool_failed' } = Object(error)
    send({ kind: 'error', id, message: errorMessage(error), ...(name === 'ToolError' && { toolError: reason }) })
  } finally {
    calls.delete(id)
  }
}

/**
 * @param {number} id
 * @param {unknown} value
 */
function sendResult(id, value) {
  const text = JSON.stringify({ kind: 'result', id, value, className: foreignClass(value) })
  if (Buffer.byteLength(text) <= maxBytes) channel.write(`${text}\n`)
  else send({ kind: 'error', id, message: `The result exceeds ${maxBytes} bytes. Request less.`, toolError: 'tool_failed' })
}

/**
 * Returns the class name of an object whose data JSON would lose; the server reports the error.
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

// A handler that reports a million steps would flood the server and the client.
const progressIntervalMs = 50
const maxLogs = 1_000

/**
 * @param {number} id
 * @param {AbortSignal} signal
 */
function createContext(id, signal) {
  let sentAt = Number.NEGATIVE_INFINITY
  let logs = 0
  return {
    signal,
    /** @type {(progress: number, total?: number, message?: string) => void} */
    progress(progress, total, message) {
      const now = performance.now()
      if (now - sentAt < progressIntervalMs && progress !== total) return
      sentAt = now
      send({ kind: 'progress', id, progress, total, message })
    },
    /** @type {(level: string, data: unknown) => void} */
    log(level, data) {
      if (logs++ < maxLogs) send({ kind: 'log', id, level, data })
    },
  }
}

/** @param {object} message */
function send(message) {
  const text = JSON.stringify(message)
  if (maxBytes === 0 || Buffer.byteLength(text) <= maxBytes) channel.write(`${text}\n`)
}

const maxErrorLength = 10_000

/** @param {unknown} error */
function errorMessage(error) {
  try {
    const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : error
    return String(message).slice(0, maxErrorLength)
  } catch {
    return ''
  }
}

/**
 * Returns the line of the plugin that an error comes from.
 * @param {unknown} error
 * @param {string} file
 */
function lineOf(error, file) {
  const stack = String(Object(error).stack ?? '')
  const [, line] = stack.split(pathToFileURL(file).href)[1]?.match(/^:(\d+)/) ?? stack.split(file)[1]?.match(/^:(\d+)/) ?? []
  return line === undefined ? undefined : Number(line)
}
