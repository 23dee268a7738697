import type { ScriptStore } from '@unfold-mcp/server'

/** What continues paused scripts after a restart, or on another replica. */
export interface ScriptStorage extends AsyncDisposable {
  readonly store: ScriptStore
  /** Encrypts their states. */
  readonly secret: Uint8Array
}
