import type { Outline, Tool } from '@unfold-mcp/client'

/** A call towards an unlisted tool, and its effect. */
export interface Step {
  readonly name: string
  readonly arguments: { readonly [name: string]: unknown }
  readonly reply: string
  readonly isError: boolean
  /** Tools that are newly listed after the call. */
  readonly appeared: readonly Tool[]
  /** Group that the call activates. */
  readonly group?: string
  /** Activators to call first, outermost first. */
  readonly first?: readonly string[]
}

/** Everything a server sent to one client. */
export interface Transcript {
  readonly era: 'session' | 'stateless'
  readonly revision: string
  readonly server: { readonly name: string; readonly version: string }
  readonly tools: readonly Tool[]
  readonly instructions: string | undefined
  /** All tools of the server, if it reports them. */
  readonly outline: Outline | undefined
  readonly steps: readonly Step[]
  /** Definitions of tools that no step listed. */
  readonly unlisted: readonly Tool[]
  /** Activators that were not called, because they need arguments or may do more than change the list. */
  readonly skipped: readonly string[]
}
