/** Hooks that run before a group is switched on or off. Throwing leaves everything as it was. */
export interface GroupHooks {
  /** Prepares what the group's tools need. Undone by `deactivate` when a later hook of the same transition fails. */
  readonly activate?: (ctx: HookContext) => void | Promise<void>
  /** Releases it. Undone by `activate` when a later hook of the same transition fails. */
  readonly deactivate?: (ctx: HookContext) => void | Promise<void>
}

export interface HookContext {
  readonly group: string
  /** Whose activation changes, such as `session:6f1…`; `shared` for 2026-07-28 clients, which share one activation. */
  readonly scope: string
}
