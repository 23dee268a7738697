import type { Runtime } from '../../runtime/runtime.ts'
import type { Scope } from '../../scope/scope.ts'
import type { Call, CallEffects } from '../calling/call.ts'

/** A call of a discovery tool, which works on the caller's scope. */
export interface DiscoveryCall {
  readonly runtime: Runtime
  readonly scope: Scope
  readonly call: Call
  readonly effects: CallEffects
}
