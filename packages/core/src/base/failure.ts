/**
 * Details of each reason. Callers branch on `reason`; `docs/errors/<reason>.md` explains it. Three separate kinds: `tool` reaches
 * the model as a result, `protocol` reaches the client as a JSON-RPC error, `operator` is for the author or operator of the server
 * and never crosses the wire.
 */
export interface FailureDetails {
  ambiguous_resource: { uri: string; servers: readonly string[]; uris: readonly string[] }
  approval_pending: { tool: string }
  arguments_too_large: { limit: number; what: 'elements' | 'depth' }
  body_too_large: { limit: number }
  busy: { running: number; waiting: number }
  call_cancelled: { tool: string }
  conflicting_groups: { groups: readonly string[] }
  connection_limit: { limit: number }
  denied: { tool: string }
  duplicate_id: { id: string | number }
  duplicate_name: { name: string; sources: readonly string[] }
  effect_unknown: { tool: string }
  forbidden_host: { host: string }
  forbidden_origin: { origin: string }
  group_cycle: { path: readonly string[] }
  group_inactive: { group: string; parent: string }
  header_mismatch: { problem: string }
  hook_failed: { group: string; phase: 'activate' | 'deactivate' }
  internal_error: { problem: string }
  invalid_arguments: { tool: string; problems: readonly Problem[] }
  invalid_cursor: { cursor: string }
  invalid_declaration: { what: string }
  invalid_json: { problem: string }
  invalid_name: { name: string }
  invalid_params: { problem: string }
  invalid_request: { problem: string }
  invalid_result: { tool: string; problem: string }
  invalid_schema: { tool: string; problem: string }
  invalid_snapshot: { problem: string }
  invalid_view: { parameter: string; value: string; nearest: readonly string[] }
  mode_unavailable: { tool: string; mode: string; available: readonly string[] }
  name_clash: { name: string; winner: string; loser: string }
  no_scope: { operation: string }
  permission_check_failed: { tool: string }
  plugin_failed: { plugin: string }
  port_in_use: { port: number }
  predicate_failed: { tool: string }
  quota_full: { group: string; limit: number; what: 'groups' | 'tokens' }
  rate_limited: { limit: number; retryAfterMs: number }
  requires_activation: { tool: string; group: string; activators: readonly string[] }
  reserved_name: { name: string }
  script_failed: { line?: number; column?: number }
  script_limit: { limit: ScriptLimit; maximum: number }
  script_state_rejected: { problem: string }
  script_unavailable: { problem: string }
  search_degraded: { problem: string }
  session_limit: { limit: number }
  session_not_found: { session: string }
  stale_cursor: { cursor: string }
  state_unavailable: { what: string }
  store_failed: { operation: string }
  subscription_limit: { limit: number }
  tool_failed: { tool: string }
  tool_timeout: { tool: string; timeoutMs: number }
  unauthorized: { scheme: 'Bearer' }
  unknown_group: { group: string; nearest: readonly string[] }
  unknown_path: { path: string }
  unknown_profile: { profile: string; nearest: readonly string[] }
  unknown_scope: { scope: string }
  unknown_server: { server: string; nearest: readonly string[] }
  unknown_tool: { name: string; nearest: readonly string[] }
  unsupported_media_type: { type: string }
  unsupported_method: { method: string; allowed: readonly string[] }
  unsupported_server: { problem: string }
}

export type Reason = keyof FailureDetails

/** Limit that ends a script. */
export type ScriptLimit = 'cpu' | 'wall' | 'memory' | 'stack' | 'calls' | 'parallelCalls' | 'output' | 'result'

/** Problem of a value; `path` is empty for the value itself. */
export interface Problem {
  readonly path: string
  readonly message: string
}

export type FailureKind = 'tool' | 'protocol' | 'operator'

/** Audience of each reason. A reason with two audiences is listed under the first to see it. */
export const reasons = {
  ambiguous_resource: 'protocol',
  approval_pending: 'tool',
  arguments_too_large: 'protocol',
  body_too_large: 'protocol',
  busy: 'tool',
  call_cancelled: 'tool',
  conflicting_groups: 'operator',
  connection_limit: 'protocol',
  denied: 'tool',
  duplicate_id: 'protocol',
  duplicate_name: 'operator',
  effect_unknown: 'tool',
  forbidden_host: 'protocol',
  forbidden_origin: 'protocol',
  group_cycle: 'operator',
  group_inactive: 'tool',
  header_mismatch: 'protocol',
  hook_failed: 'tool',
  internal_error: 'protocol',
  invalid_arguments: 'tool',
  invalid_cursor: 'protocol',
  invalid_declaration: 'operator',
  invalid_json: 'protocol',
  invalid_name: 'operator',
  invalid_params: 'protocol',
  invalid_request: 'protocol',
  invalid_result: 'tool',
  invalid_schema: 'operator',
  invalid_snapshot: 'tool',
  invalid_view: 'protocol',
  mode_unavailable: 'tool',
  name_clash: 'operator',
  no_scope: 'operator',
  permission_check_failed: 'operator',
  plugin_failed: 'operator',
  port_in_use: 'operator',
  predicate_failed: 'operator',
  quota_full: 'tool',
  rate_limited: 'tool',
  requires_activation: 'tool',
  reserved_name: 'operator',
  script_failed: 'tool',
  script_limit: 'tool',
  script_state_rejected: 'tool',
  script_unavailable: 'tool',
  search_degraded: 'operator',
  session_limit: 'protocol',
  session_not_found: 'protocol',
  stale_cursor: 'protocol',
  state_unavailable: 'tool',
  store_failed: 'operator',
  subscription_limit: 'protocol',
  tool_failed: 'tool',
  tool_timeout: 'tool',
  unauthorized: 'protocol',
  unknown_group: 'tool',
  unknown_path: 'protocol',
  unknown_profile: 'protocol',
  unknown_scope: 'operator',
  unknown_server: 'protocol',
  unknown_tool: 'protocol',
  unsupported_media_type: 'protocol',
  unsupported_method: 'protocol',
  unsupported_server: 'operator',
} as const satisfies { readonly [R in Reason]: FailureKind }

/** Reasons that reach the model in a result. */
export type ToolReason = { [R in Reason]: (typeof reasons)[R] extends 'tool' ? R : never }[Reason]

export const isToolReason = (value: unknown): value is ToolReason =>
  typeof value === 'string' && Object.hasOwn(reasons, value) && reasons[value as Reason] === 'tool'

/** Expected failure: `message` says what happened and what to do next, `details` has the data. */
export class Failure<R extends Reason = Reason> extends Error {
  override readonly name = 'Failure'
  readonly reason: R
  readonly details: FailureDetails[R]

  constructor(reason: R, message: string, details: FailureDetails[R], options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
    this.details = details
  }
}

/** Tests for a `Failure`, optionally with a given reason. */
export function isFailure<R extends Reason>(error: unknown, reason?: R): error is Failure<R> {
  return error instanceof Failure && (reason === undefined || error.reason === reason)
}

interface Located {
  readonly line: number
  readonly column: number
  /** Path in the configuration; empty for the file. */
  readonly path: string
  readonly message: string
}

/** A problem of a configuration file as `line:column: path message`, which follows the file name. */
export function locatedText({ line, column, path, message }: Located): string {
  if (path === '') return `${line}:${column} ${message}`
  // Most messages continue the path ("must be a number"); the others are sentences.
  return `${line}:${column}: ${path}${/^[A-Z]/u.test(message) ? ': ' : ' '}${message}`
}
