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
  readonly description: string
  readonly active: boolean
  readonly parent: string | undefined
  readonly activator: string
  readonly toolCount: number
}

/** `session`: revisions up to 2025-11-25, which remember what a client activates. `stateless`: 2026-07-28. */
export type Era = 'session' | 'stateless'

/** A script that makes a call. */
export interface ScriptCaller {
  /** Identifies the run of the script. */
  readonly run: string
  /** Line of the call in the script. */
  readonly line: number | undefined
  /** `given`: a person confirmed the call; `missing`: it needs confirmation and the client cannot ask; `none`: it needs none. */
  readonly confirmation: 'given' | 'missing' | 'none'
}

/** The context of a call: who called, and what the handler can do besides returning a result. */
export interface ToolContext<Name extends string = string, F extends Facts = Facts, P extends Principal = Principal> {
  /** The scope whose activation this call uses, such as `session:6f1…`. */
  readonly scope: string
  readonly era: Era
  readonly principal: P | undefined
  /** Key of the client's share of sessions, streams, searches and calls; absent where clients cannot be told apart. */
  readonly share: string | undefined
  /** Facts at the moment the call was admitted. */
  readonly facts: F
  /** Aborted when the client cancels or disconnects (in a session over HTTP it may come back), and when the call times out. */
  readonly signal: AbortSignal
  /** `_meta` of the request. */
  readonly meta: ServerContext['mcpReq']['_meta']
  /** Name, capabilities and log level of a 2026-07-28 client, which it sends with every request. */
  readonly envelope: ServerContext['mcpReq']['envelope']
  /** Responses to the `inputRequests` of an earlier result, by key. */
  readonly inputResponses: { readonly [key: string]: unknown } | undefined
  /** `requestState` of an earlier result as the client returned it. Verify it before you trust it. */
  readonly requestState: string | undefined
  /** Whether the client repeats a call with responses to an earlier `inputRequired` result. */
  readonly isRepeated: boolean
  /** The script that makes this call; absent for a call of the client itself. */
  readonly script?: ScriptCaller | undefined
  /** The client, for messages that the methods below do not cover. Absent when called without a transport. */
  readonly client: ClientPort | undefined
  /** The HTTP request of the call; absent over stdio. */
  readonly request: Request | undefined
  /** Returns whether a group is active for this scope; without a group, whether the gate is open. */
  isActive(group?: Name): boolean
  /** Returns the groups that this client may know of, for example to build a menu. */
  groups(): readonly GroupStatus[]
  /**
   * Activates a group for this scope, or the gate. The client is notified once, when the call ends. Where a call cannot change the
   * list (2026-07-28), nothing changes and the transition has `listIsFixed`.
   */
  activate(group?: Name): Promise<Transition>
  deactivate(group?: Name): Promise<Transition>
  /** Evaluates predicates again and notifies every client whose view changed. */
  toolListChanged(): void
  /** Reports progress if the client asked for it. */
  readonly progress: (progress: number, total?: number, message?: string) => Promise<void>
  /** Sends a log message if the client wants messages of this level. */
  readonly log: (level: LoggingLevel, data: unknown, logger?: string) => Promise<void>
  /** Asks the user. Session era only: on 2026-07-28 return the SDK's `inputRequired({ … })` instead, which works in both eras. */
  readonly elicit: (params: ElicitParams) => Promise<ElicitResult>
  /** Asks the client's model. Session era only, like `elicit`. */
  readonly sample: (params: CreateMessageRequest['params']) => Promise<CreateMessageResult>
}
