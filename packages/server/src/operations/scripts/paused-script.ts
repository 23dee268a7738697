import { createHash, randomBytes } from 'node:crypto'
import { Failure } from '@unfold-mcp/core'
import type { Scope } from '../../scope/scope.ts'
import type { ScriptStore } from '../../stores/script-store.ts'
import type { StateCipher } from '../../stores/state-cipher.ts'
import type { CallRecord } from './call-record.ts'
import type { Questions } from './question.ts'

/** A call whose tool asked for input. */
export interface OpenInput {
  readonly id: number
  /** Keys of its questions, as the tool named them. */
  readonly keys: readonly string[]
  readonly requestState: string | undefined
  readonly rounds: number
}

/** Everything about a run except its snapshot. */
export interface ScriptState {
  readonly run: string
  /** Number of pauses so far. */
  readonly generation: number
  readonly engine: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  readonly askedAt: number
  /** The client declines questions without showing them to a person. */
  readonly cannotAsk: boolean
  readonly records: readonly CallRecord[]
  /** Number of further calls to a tool that a person has confirmed. */
  readonly granted: { readonly [tool: string]: number }
  /** Fingerprints of the definitions of all tools that the script called or waits for. */
  readonly tools: { readonly [tool: string]: string }
  readonly output: readonly string[]
  readonly inputs: readonly OpenInput[]
  /** Calls that wait for confirmation. */
  readonly asked: readonly number[]
  readonly questions: Questions
}

export interface PausedScript {
  readonly state: ScriptState
  readonly snapshot: Uint8Array
}

/** What a state is bound to: the caller, the server and the request. */
export function bindingOf({ settings: { principal, share } }: Scope, server: string, request: unknown): string {
  const digest = createHash('sha256').update(JSON.stringify(request)).digest('base64url')
  return JSON.stringify([principal?.id ?? null, principal === undefined ? (share ?? null) : null, server, digest])
}

const prefix = 'script.'
const storedPrefix = 'script-handle.'
// Hosts and proxies limit the size of requests; a state travels twice.
const maxTravelling = 48_000

export const isPausedScript = (state: string): boolean => state.startsWith(prefix) || state.startsWith(storedPrefix)

interface SealOptions {
  readonly cipher: StateCipher
  readonly store: ScriptStore
  readonly binding: string
}

/** Encrypts a paused script. A large one is stored, and only a handle travels. */
export async function seal({ state, snapshot }: PausedScript, { cipher, store, binding }: SealOptions): Promise<string> {
  const head = Buffer.from(JSON.stringify(state))
  const size = Buffer.alloc(4)
  size.writeUInt32BE(head.length)
  const sealed = cipher.encrypt(Buffer.concat([size, head, snapshot]), binding)
  if (prefix.length + sealed.length <= maxTravelling) return `${prefix}${sealed}`
  const handle = randomBytes(24).toString('base64url')
  await store.set(stateKey(handle), sealed, state.expiresAt)
  return `${storedPrefix}${handle}`
}

const stateKey = (handle: string): string => `state:${handle}`

/** Decrypts a paused script; throws for a state that cannot be used. */
export async function unseal(token: string, { cipher, store, binding }: SealOptions, now: number): Promise<PausedScript> {
  const isStored = token.startsWith(storedPrefix)
  const sealed = isStored ? await store.get(stateKey(token.slice(storedPrefix.length))) : token.slice(prefix.length)
  if (sealed === undefined) throw rejectedState('it expired, was already used, or is not known here')
  const bytes = cipher.decrypt(sealed, binding)
  if (bytes === undefined)
    throw rejectedState('it was altered, belongs to another caller or another script, or comes from a server with another secret')
  const size = bytes.readUInt32BE(0)
  const state = JSON.parse(bytes.subarray(4, 4 + size).toString('utf8')) as ScriptState
  if (state.expiresAt <= now) throw rejectedState('it expired, because the answer took too long')
  return { state, snapshot: bytes.subarray(4 + size) }
}

export function rejectedState(problem: string, done = ''): Failure<'script_state_rejected'> {
  const message = `The paused script cannot continue: ${problem}. Check what it has already done before you run it again.${done}`
  return new Failure('script_state_rejected', message, { problem })
}
