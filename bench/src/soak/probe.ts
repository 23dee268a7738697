// Loaded into the gateway's process with `--import`. Answers each message of the parent with a measurement.
import { readdirSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'

/** A measurement of the gateway's process, after garbage collection. */
export interface Measurement {
  /** JavaScript heap and buffers. */
  readonly memoryBytes: number
  readonly rssBytes: number
  /** Open file descriptors; `undefined` where the system does not tell. */
  readonly descriptors?: number
  /** 99th percentile since the last measurement. */
  readonly lagP99Ms: number
}

const resolutionMs = 10
const delay = monitorEventLoopDelay({ resolution: resolutionMs })
delay.enable()

process.on('message', () => void measure().then((measurement) => process.send?.(measurement)))
// The channel must not keep the gateway alive.
process.channel?.unref()

async function measure(): Promise<Measurement> {
  // The histogram includes the sampling interval itself.
  const lagP99Ms = Math.max(0, delay.percentile(99) / 1e6 - resolutionMs)
  // Finalizers run after a collection and free more.
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.()
    await pause(50)
  }
  const { heapUsed, external, rss } = process.memoryUsage()
  delay.reset()
  return { memoryBytes: heapUsed + external, rssBytes: rss, ...descriptors(), lagP99Ms }
}

function descriptors(): { readonly descriptors?: number } {
  try {
    return { descriptors: readdirSync('/proc/self/fd').length }
  } catch {
    return {}
  }
}
