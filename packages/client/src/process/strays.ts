import { readdirSync, readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'

// Every descendant of a server inherits this variable, also one that left its process group.
const variable = 'UNFOLD_PROCESS_IDS'
const pollMs = 25
// Each round kills all that were found; more than one is needed only for processes that were being started.
const maxRounds = 20

/** Environment that marks a server and its descendants. If this process is marked itself, they keep its mark too. */
export function processMark(id: string): Readonly<Record<string, string>> {
  const outer = process.env[variable]
  return { [variable]: outer === undefined || outer === '' ? id : `${outer},${id}` }
}

/**
 * Ends the descendants of a server that outlived it: SIGTERM, then SIGKILL after `graceMs`. Only Linux shows the environment of
 * other processes. A process that cleared its environment, or that the system protects from inspection, is not found.
 */
export async function endStrays(id: string, graceMs: number): Promise<void> {
  if (process.platform !== 'linux') return
  const first = (await scan()).pidsOf(id)
  if (first.length === 0) return
  signal(first, 'SIGTERM')
  await goneWithin(first, id, graceMs)
  for (let round = 0; round < maxRounds; round++) {
    const rest = (await scan()).pidsOf(id)
    if (rest.length === 0) return
    signal(rest, 'SIGKILL')
    await wait(pollMs)
  }
}

/** Kills the descendants of several servers at once, when this process exits. */
export function killStraysSync(ids: readonly string[]): void {
  if (process.platform !== 'linux' || ids.length === 0) return
  try {
    for (const pid of readdirSync('/proc').filter(isPid)) {
      const marks = marksIn(tryRead(`/proc/${pid}/environ`))
      if (ids.some((id) => marks.includes(id))) signal([Number(pid)], 'SIGKILL')
    }
  } catch {
    // Without /proc nothing can be found.
  }
}

interface Scan {
  pidsOf(id: string): readonly number[]
}

let active: Promise<unknown> = Promise.resolve()
let queued: Promise<Scan> | undefined

/** Reads the marks of all processes. Servers that end together share a scan that starts after each of them ended. */
function scan(): Promise<Scan> {
  queued ??= active.then(() => {
    queued = undefined
    const reading = readMarks()
    active = reading
    return reading
  })
  return queued
}

async function readMarks(): Promise<Scan> {
  const pids = (await readdir('/proc').catch(() => [])).filter(isPid)
  const marks = await Promise.all(pids.map(marksOf))
  return { pidsOf: (id) => pids.filter((_, index) => marks[index]?.includes(id) === true).map(Number) }
}

async function marksOf(pid: string | number): Promise<readonly string[]> {
  // Processes of other users cannot be read; a zombie has no environment.
  return marksIn(await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => ''))
}

function marksIn(environment: string): readonly string[] {
  const start = `\0${environment}`.indexOf(`\0${variable}=`)
  if (start === -1) return []
  const [value = ''] = environment.slice(start + variable.length + 1).split('\0', 1)
  return value.split(',')
}

async function goneWithin(pids: readonly number[], id: string, ms: number): Promise<void> {
  const deadline = Date.now() + ms
  const isAnyLeft = async (): Promise<boolean> => (await Promise.all(pids.map(marksOf))).some((marks) => marks.includes(id))
  while ((await isAnyLeft()) && Date.now() < deadline) await wait(pollMs)
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids)
    try {
      process.kill(pid, name)
    } catch {
      // It has ended.
    }
}

const isPid = (name: string): boolean => /^\d+$/u.test(name)

function tryRead(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
