// @ts-check
// Kills a plugin's process when the server exits, which closes the shared pipe, or when the process exceeds its memory limit.
// Runs in its own thread, because plugin code may block the main one. The gateway guards its upstreams from outside instead: it
// cannot start a thread in another program.
import { writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { workerData } from 'node:worker_threads'

const checkIntervalMs = 200
/** @type {{ fd: number, maxBytes: number }} */
const { fd, maxBytes } = workerData

function kill() {
  // The process group includes every process that the plugin started.
  process.kill(process.platform === 'win32' ? process.pid : -process.pid, 'SIGKILL')
}

new Socket({ fd, readable: true, writable: false }).on('error', kill).on('close', kill).resume()

setInterval(() => {
  const bytes = process.memoryUsage.rss()
  if (bytes <= maxBytes) return
  const [used, allowed] = [bytes, maxBytes].map((each) => Math.round(each / 1_048_576))
  writeSync(2, `Memory limit exceeded: ${used} MB used, ${allowed} MB allowed.\n`)
  kill()
}, checkIntervalMs)
