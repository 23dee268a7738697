import type {
  CreateMessageRequest,
  CreateMessageResult,
  ElicitResult,
  LoggingLevel,
  ServerContext,
} from '@modelcontextprotocol/server'
import type { Facts } from '@unfold-mcp/core'
import type { ClientPort, ElicitParams } from './client-port.ts'
import type { Principal } from './principal.ts'
import type { Transition } from './transition.ts'

/** A group as it stands for one scope. */
export interface GroupStatus {
  readonly name: string
  readonly about: string
  readonly active: boolean
  readonly parent: string | undefined
  readonly activator: string
  readonly toolCount: number
}

/** `session`: revisions up to 2025-11-25, where what a client activates is remembered. `stateless`: 2026-07-28. */
export type Era = 'session' | 'stateless'

/** What a handler knows about the call it answers, and what it may do beside answering. */
export interface ToolContext<Name extends string = string, F extends Facts = Facts, P extends Principal = Principal> {
  /** Whose activation this call reads and writes, such as `session:6f1…`. */
  readonly scope: string
  readonly era: Era
  readonly principal: P | undefined
  /** Facts at the moment the call was admitted. */
  readonly facts: F
  /** Aborted when the client cancels, when it vanishes (in a session over HTTP it may come back), and when the tool's time is up. */
  readonly signal: AbortSignal
  /** What the client sent beside the arguments, in `_meta`. */
  readonly meta: ServerContext['mcpReq']['_meta']
  /** What a 2026-07-28 client says of itself with every request: its name, what it can be asked, the log it wants. */
  readonly envelope: ServerContext['mcpReq']['envelope']
  /** The answers to the `inputRequests` of an earlier result, by their keys. */
  readonly inputResponses: { readonly [key: string]: unknown } | undefined
  /** The `requestState` of an earlier result, as the client sent it back: verify it before you trust it. */
  readonly requestState: string | undefined
  /** Whether the client made this call before, and comes with answers to what was asked then. */
  readonly isRepeated: boolean
  /** The client, for what the methods below do not cover. Absent when called without a transport. */
  readonly client: ClientPort | undefined
  /** The HTTP request that the call came with; absent over stdio. */
  readonly request: Request | undefined
  /** Whether a group is active for this scope; without a group, whether the gate is open. */
  isActive(group?: Name): boolean
  /** The groups this client may know of, with what each is for and whether it is active: for menus of one's own. */
  groups(): readonly GroupStatus[]
  /**
   * Activates a group for this scope, or without one the gate; the client is notified once, when the call ends. Where a call cannot change the list
   * (2026-07-28) it changes nothing and returns a transition with `listIsFixed`.
   */
  activate(group?: Name): Promise<Transition>
  deactivate(group?: Name): Promise<Transition>
  /** Reads predicates again now; whoever's view changed is told. */
  toolListChanged(): void
  /** Tells the client how far the work is, if it asked to know. */
  readonly progress: (progress: number, total?: number, message?: string) => Promise<void>
  /** Sends a log message to the client, if it wants messages of this level. */
  readonly log: (level: LoggingLevel, data: unknown, logger?: string) => Promise<void>
  /**
   * Asks the person at the client. Session era only: on 2026-07-28 return the SDK's `inputRequired({ … })` instead, which works in
   * both eras.
   */
  readonly elicit: (params: ElicitParams) => Promise<ElicitResult>
  /** Asks the client's model. Session era only, as `elicit`. */
  readonly sample: (params: CreateMessageRequest['params']) => Promise<CreateMessageResult>
}
