// @ts-check
// A worker thread that runs one script at a time and answers each request with one message. Plain JavaScript, so that it also runs
// from the sources.
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { createBase } from './sandbox.mjs'
import { Session } from './session.mjs'
import { decodeSnapshot, encodeSnapshot, SnapshotError, sha256 } from './snapshot.mjs'
import { threadCpuFile } from './thread-cpu.mjs'

/**
 * @typedef {import('./messages.ts').WorkerSettings} WorkerSettings
 * @typedef {import('./messages.ts').WorkerRequest} WorkerRequest
 * @typedef {import('./messages.ts').WorkerReply} WorkerReply
 */

const { wasm, harness, version } = /** @type {WorkerSettings} */ (workerData)
const port = /** @type {import('node:worker_threads').MessagePort} */ (parentPort)

// On Linux, this applies to the thread: a script must not slow down the main thread.
try {
  setPriority(0, 5)
} catch {
  // Without permission, it runs with the priority of the process.
}

const base = await createBase(wasm, harness)
const origin = { version, base: sha256(base.image.memory).toString('base64') }

/** @type {{ session: Session, startedAt: number } | undefined} */
let script

port.on('message', (/** @type {WorkerRequest} */ request) => {
  void reply(request)
})
port.postMessage({ kind: 'ready', cpuFile: threadCpuFile() })

/**
 * A rejection ends the thread, and the main thread reports it.
 * @param {WorkerRequest} request
 */
async function reply(request) {
  port.postMessage(await answer(request))
}

/**
 * @param {WorkerRequest} request
 * @returns {Promise<WorkerReply>}
 */
async function answer(request) {
  switch (request.kind) {
    case 'start': {
      const { limits, wallMs, source, form, input, startedAt, seed } = request
      const session = new Session(limits, 0)
      await session.open(wasm, base, base.image, startedAt)
      script = { session, startedAt }
      return session.start({ source, form }, input, seed, wallMs)
    }
    case 'restore':
      return restore(request)
    case 'settle':
      return current().session.settle(request.outcomes, request.wallMs)
    case 'snapshot': {
      const { session, startedAt } = current()
      return { kind: 'snapshot', bytes: encodeSnapshot(session.image(), base.image, origin, { startedAt, cpuMs: session.cpuMs }) }
    }
    default:
      script = undefined
      return { kind: 'ended' }
  }
}

/**
 * @param {Extract<WorkerRequest, { kind: 'restore' }>} request
 * @returns {Promise<WorkerReply>}
 */
async function restore({ limits, wallMs, snapshot }) {
  const maxBytes = base.image.memory.length + limits.memoryBytes * 2
  try {
    const { image, startedAt, cpuMs } = decodeSnapshot(snapshot, base.image, origin, maxBytes)
    const session = new Session(limits, cpuMs)
    await session.open(wasm, base, image, startedAt)
    script = { session, startedAt }
    return session.resume(wallMs)
  } catch (error) {
    if (error instanceof SnapshotError) return { kind: 'rejected', problem: error.message }
    throw error
  }
}

function current() {
  if (script === undefined) throw new Error('No script is running.')
  return script
}
