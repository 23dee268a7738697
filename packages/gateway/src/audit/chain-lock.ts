import { randomUUID } from 'node:crypto'
import { link, open, readFile, readlink, rename, rm, stat, utimes } from 'node:fs/promises'
import { hostname } from 'node:os'
import { isProcessRunning } from '../base/process-running.ts'
import { chainPath } from './chain-files.ts'

/** The chain that this process writes. */
export interface ChainLock {
  /** Current file of the chain. */
  readonly path: string
  /** False if another process has taken the chain over, for example while this one was suspended. */
  isHeld(): Promise<boolean>
  release(): Promise<void>
}

interface Owner {
  readonly pid: number
  readonly host: string
  /** PID namespace; processes of other namespaces cannot be looked up. */
  readonly namespace: string
  readonly id: string
}

const beatMs = 5_000
// Other processes treat the owner as dead after this long without a beat.
const staleMs = 30_000
const maxChains = 99

/** Locks of this process: a lock file with its PID may also be from an earlier process with the same PID, as in a container. */
const held = new Set<string>()

/**
 * Takes the first chain that no running process writes. The lock is held as long as the process runs, so that writing a record
 * needs no lock, and a suspended process blocks no other.
 */
export async function lockChain(path: string): Promise<ChainLock> {
  for (let chain = 1; chain <= maxChains; chain++) {
    const lock = await tryLock(chainPath(path, chain))
    if (lock !== undefined) return lock
  }
  throw new Error(`${maxChains} processes are writing this audit log`)
}

async function tryLock(path: string): Promise<ChainLock | undefined> {
  const file = `${path}.lock`
  const id = randomUUID()
  const owner: Owner = { pid: process.pid, host: hostname(), namespace: await pidNamespace(), id }
  for (let attempt = 0; attempt < 2; attempt++) {
    if (await create(file, owner)) return holdLock(path, file, id)
    if (!(await isAbandoned(file, owner))) return undefined
    await removeAbandoned(file, owner)
  }
  return undefined
}

function holdLock(path: string, file: string, id: string): ChainLock {
  held.add(id)
  let lastBeat = Date.now()
  const isOwn = async (): Promise<boolean> => (await ownerOf(file))?.id === id
  const beat = async (): Promise<void> => {
    if (!(await isOwn())) return
    const now = new Date()
    await utimes(file, now, now)
    lastBeat = now.getTime()
  }
  const timer = setInterval(() => void beat().catch(() => undefined), beatMs)
  timer.unref()
  return {
    path,
    isHeld: async () => Math.abs(Date.now() - lastBeat) < staleMs / 2 || isOwn(),
    async release() {
      clearInterval(timer)
      held.delete(id)
      if (await isOwn()) await rm(file, { force: true })
    },
  }
}

async function create(file: string, owner: Owner): Promise<boolean> {
  try {
    await using handle = await open(file, 'wx', 0o600)
    await handle.writeFile(JSON.stringify(owner))
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

async function ownerOf(file: string): Promise<Owner | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Owner
  } catch {
    return undefined
  }
}

async function isAbandoned(file: string, own: Owner): Promise<boolean> {
  const age = await stat(file).then(
    ({ mtimeMs }) => Math.abs(Date.now() - mtimeMs),
    () => undefined,
  )
  if (age === undefined || age > staleMs) return true
  const owner = await ownerOf(file)
  // Its owner may be about to write it.
  if (owner === undefined) return false
  if (owner.host !== own.host || owner.namespace !== own.namespace) return false
  return owner.pid === own.pid ? !held.has(owner.id) : !isProcessRunning(owner.pid)
}

// Of several processes that find it, one may already have replaced it, so it is moved away first, and returned if it is in use.
async function removeAbandoned(file: string, own: Owner): Promise<void> {
  const aside = `${file}.${own.id}`
  try {
    await rename(file, aside)
    if (!(await isAbandoned(aside, own))) await link(aside, file)
  } catch {
    // Released or replaced meanwhile.
  }
  await rm(aside, { force: true })
}

const pidNamespace = (): Promise<string> => readlink('/proc/self/ns/pid').catch(() => '')
