import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What a run of `npm run bench -- cluster` measured, per session, call and list. Operations are round trips to Redis. */
export interface Measured {
  readonly replica: {
    /** Memory of a replica without sessions. */
    readonly bytes: number
    readonly bytesPerSession: number
    /** Over the whole life of a session, not counting calls and lists. */
    readonly cpuSecondsPerSession: number
    /** Loading a session that another replica started. */
    readonly cpuSecondsPerCopy: number
    readonly cpuSecondsPerCall: number
    readonly cpuSecondsPerList: number
  }
  readonly redis: {
    /** Memory without sessions, with the catalogue. */
    readonly bytes: number
    readonly bytesPerSession: number
    /** Over the whole life of a session, not counting calls and lists. */
    readonly operationsPerSession: number
    /** Loading a session that another replica started. */
    readonly operationsPerCopy: number
    readonly operationsPerCall: number
    readonly operationsPerList: number
    readonly cpuSecondsPerOperation: number
  }
}

/** Where a run stores its results. */
const measuredFile = fileURLToPath(new URL('../../results/cluster.json', import.meta.url))

const fields = {
  replica: ['bytes', 'bytesPerSession', 'cpuSecondsPerSession', 'cpuSecondsPerCopy', 'cpuSecondsPerCall', 'cpuSecondsPerList'],
  redis: ['bytes', 'bytesPerSession', 'operationsPerSession', 'operationsPerCall', 'operationsPerList', 'cpuSecondsPerOperation'],
} as const

export function writeMeasured(measured: Measured): void {
  mkdirSync(dirname(measuredFile), { recursive: true })
  writeFileSync(measuredFile, `${JSON.stringify(measured, undefined, 2)}\n`)
}

/** Reads the results of the last run. Throws an error with the fix if there are none. */
export function readMeasured(file: string = measuredFile): Measured {
  const again = 'Measure first: npm run bench -- cluster'
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new Error(`No measured numbers in ${file}. ${again}`, { cause: error })
  }
  const invalid = invalidFields(parsed(text))
  if (invalid.length > 0) throw new Error(`${file} is invalid: ${invalid.join(', ')} must be numbers of at least 0. ${again}`)
  return JSON.parse(text) as Measured
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function invalidFields(value: unknown): readonly string[] {
  const part = (of: unknown, key: string): unknown =>
    typeof of === 'object' && of !== null ? (of as { readonly [key: string]: unknown })[key] : undefined
  return Object.entries(fields).flatMap(([section, names]) =>
    names
      .filter((name) => {
        const number = part(part(value, section), name)
        return typeof number !== 'number' || !Number.isFinite(number) || number < 0
      })
      .map((name) => `${section}.${name}`),
  )
}
