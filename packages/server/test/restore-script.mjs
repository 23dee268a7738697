// Restores the snapshot of a script in this process, settles its calls and prints the last turn.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'

const [settings = '', snapshot = ''] = process.argv.slice(2)
const { harness, version, limits, outcomes } = JSON.parse(settings)
const wasm = new WebAssembly.Module(readFileSync(createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm')))
const worker = new Worker(new URL('../src/scripts/quickjs/worker.mjs', import.meta.url), {
  workerData: { wasm, harness, version },
})
const { wallMs } = limits
const requests = [
  { kind: 'restore', limits, wallMs, snapshot: Buffer.from(snapshot, 'base64') },
  { kind: 'settle', wallMs, outcomes },
]
worker.on('message', ({ end, output }) => {
  const request = requests.shift()
  if (request !== undefined) {
    worker.postMessage(request, [])
    return
  }
  console.log(JSON.stringify({ kind: end.kind, value: JSON.parse(end.value), output }))
  void worker.terminate()
})
