import type { Outline, Tool } from '@unfold-mcp/client'

/** A call that brings a model closer to a tool that is not listed, and what it led to. */
export interface Step {
  readonly name: string
  readonly arguments: { readonly [name: string]: unknown }
  /** The text of the reply. */
  readonly reply: string
  readonly isError: boolean
  /** Tools that are listed after the call and were not before it. */
  readonly appeared: readonly Tool[]
  /** The group that the call activates. */
  readonly group?: string
  /** Activators that have to be called before it, outermost first. */
  readonly first?: readonly string[]
}

/** Everything that a server transcript to one client: what it lists first, and what each step added. */
export interface Transcript {
  readonly era: 'session' | 'stateless'
  readonly revision: string
  readonly server: { readonly name: string; readonly version: string }
  readonly tools: readonly Tool[]
  readonly instructions: string | undefined
  /** All tools of the server, where it reports them. */
  readonly outline: Outline | undefined
  readonly steps: readonly Step[]
  /** Definitions of tools that no step listed, where the server describes them. */
  readonly unlisted: readonly Tool[]
  /** Activators that were not called: they want arguments, or do more than to change the list. */
  readonly skipped: readonly string[]
}
