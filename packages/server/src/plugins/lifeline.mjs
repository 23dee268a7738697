// @ts-check
// Watches over the process of a plugin from a thread of its own, which goes on when the plugin's code never returns. It ends
// the process when the server is gone, which closes the pipe that both hold, and when the process takes too much memory. The
// gateway guards upstreams from outside instead, because no thread can be put into programs of others.
import { writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { workerData } from 'node:worker_threads'

const everyMs = 200
/** @type {{ fd: number, mostBytes: number }} */
const { fd, mostBytes } = workerData

function end() {
  // The process leads a group of its own, in which whatever it started is as well.
  process.kill(process.platform === 'win32' ? process.pid : -process.pid, 'SIGKILL')
}

new Socket({ fd, readable: true, writable: false }).on('error', end).on('close', end).resume()

setInterval(() => {
  const bytes = process.memoryUsage.rss()
  if (bytes <= mostBytes) return
  const [taken, allowed] = [bytes, mostBytes].map((each) => Math.round(each / 1_048_576))
  writeSync(2, `It took ${taken} MB of memory, and may take ${allowed} MB.\n`)
  end()
}, everyMs)
