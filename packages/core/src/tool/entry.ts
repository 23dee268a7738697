import type { Modes } from './modes.ts'
import type { Tool } from './tool.ts'

/** World state that predicates read; one object per computation, so a list is never half old and half new. */
export type Facts = { readonly [name: string]: unknown }

/** What a predicate may look at. Everything in it belongs to the same moment. */
export interface Snapshot<F extends Facts = Facts> {
  readonly facts: F
  readonly isActive: (group: string) => boolean
}

/** Whether a tool can be used at all now. One that throws counts as false. */
export type Predicate<F extends Facts = Facts> = (snapshot: Snapshot<F>) => boolean

/**
 * When a tool is shown: `always`, with its `group`, or when a predicate says that it is available. A grouped tool may have
 * a predicate too; then both must hold.
 */
export type Visibility = { readonly group?: string; readonly when?: Predicate }

export const always: Visibility = {}
export const group = (name: string): Visibility => ({ group: name })
export const when = (predicate: Predicate): Visibility => ({ when: predicate })

/** Where an entry came from decides its place in a list: activators, then static ones, then those registered at run time. */
export type Origin = 'surface' | 'static' | 'dynamic'

/**
 * The library's own tools: activators, `manage_tools`, `search_tools` with `describe_tools`, and `call_tool`, either as one tool
 * or as one for each kind of effect (`call-variants`).
 */
export type Surface = 'activators' | 'manage' | 'search' | 'call' | 'call-variants'

/** A tool with everything that decides who sees it and when. */
export interface Entry {
  readonly tool: Tool
  readonly origin: Origin
  readonly source: string
  readonly visibility: Visibility
  readonly tags: readonly string[]
  /** Names this tool had before; a call by one of them reaches it. */
  readonly aliases: readonly string[]
  /** Which of several versions of the same name this is. */
  readonly version?: string
  /** The group this tool opens. An activator is listed for clients that can follow, whatever is active. */
  readonly activates?: string
  /** The author wrote this activator: where activators are not listed it is an ordinary tool, so that its handler can run. */
  readonly isHandwritten?: boolean
  /** Which of the library's own surfaces it belongs to; `activators` for a surface entry that does not say. */
  readonly surface?: Surface
  /** The group that must be open for an activator to be listed; it can be called all the same. */
  readonly within?: string
  /** Shown however the rest is. */
  readonly pinned?: boolean
  /** The tool that must have succeeded once before this one is listed; `false` says that it waits for none. */
  readonly after?: string | false
  /** What a composite tool chooses from; `tool` is its definition with every mode. */
  readonly modes?: Modes
}
