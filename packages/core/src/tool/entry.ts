import type { Modes } from './modes.ts'
import type { Tool } from './tool.ts'

/** Facts for predicates; one object per computation, so that a list is consistent. */
export type Facts = { readonly [name: string]: unknown }

/** Input of a predicate, from one moment. */
export interface Snapshot<F extends Facts = Facts> {
  readonly facts: F
  readonly isActive: (group: string) => boolean
}

/** Availability of a tool. One that throws counts as false. */
export type Predicate<F extends Facts = Facts> = (snapshot: Snapshot<F>) => boolean

/**
 * When a tool is listed: `always`, with its `group`, or when a predicate holds. With both a group and a predicate, both must hold.
 */
export type Visibility = { readonly group?: string; readonly when?: Predicate }

export const always: Visibility = {}
export const group = (name: string): Visibility => ({ group: name })
export const when = (predicate: Predicate): Visibility => ({ when: predicate })

/** Origin of an entry; lists are sorted by it: surface, static, dynamic. */
export type Origin = 'surface' | 'static' | 'dynamic'

/**
 * Built-in tools: activators, `manage_tools`, `search_tools` with `describe_tools`, `call_tool`, either as one tool or as one for each
 * kind of effect (`call-variants`), and `run_code` (`code`).
 */
export type Surface = 'activators' | 'manage' | 'search' | 'call' | 'call-variants' | 'code'

/** Tool with everything that determines its visibility. */
export interface Entry {
  readonly tool: Tool
  readonly origin: Origin
  readonly source: string
  readonly visibility: Visibility
  readonly tags: readonly string[]
  /** Former names; calls by one of them still work. */
  readonly aliases: readonly string[]
  /** Version, if several tools have the same name. */
  readonly version?: string
  /** Group that this tool activates. Listed for clients that follow list changes. */
  readonly activates?: string
  /** Handwritten activator: an ordinary tool where activators are not listed, so that its handler can run. */
  readonly isHandwritten?: boolean
  /** Surface of a built-in tool; default: `activators`. */
  readonly surface?: Surface
  /** Group that must be active for an activator to be listed; it can always be called. */
  readonly within?: string
  /** Always listed. */
  readonly pinned?: boolean
  /** Prerequisite: tool that must have succeeded once before this one is listed; `false` for none. */
  readonly after?: string | false
  /** Modes of a composite tool; `tool` is its definition with all modes. */
  readonly modes?: Modes
}
