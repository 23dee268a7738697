import { type Because, Failure, gateName, type Plan, type Tool } from '@unfold-mcp/core'
import { type Reporter, wordsOf } from './report.ts'

/** What runs before a group is switched on or off. Throwing leaves everything as it was. */
export interface GroupHooks {
  /** Prepares what the group's tools need. Undone by `deactivate` when a later hook of the same transition fails. */
  readonly activate?: (ctx: HookContext) => void | Promise<void>
  /** Releases it. Undone by `activate` when a later hook of the same transition fails. */
  readonly deactivate?: (ctx: HookContext) => void | Promise<void>
}

export interface HookContext {
  readonly group: string
  /** Whose activation changes, such as `session:6f1…`; `world` for what 2026-07-28 clients share. */
  readonly scope: string
}

/** What an activation or deactivation did for one scope. */
export interface Transition {
  readonly changed: boolean
  readonly activated: readonly string[]
  readonly deactivated: readonly { readonly group: string; readonly because: Because }[]
  readonly appeared: readonly Tool[]
  readonly disappeared: readonly string[]
  /** The gate was opened, which is no group. */
  readonly gateOpened?: boolean
  /** This client does not list again, or lists too late: its model will not see this change in time. */
  readonly missesChanges?: boolean
  /** A call cannot change what this client is listed (2026-07-28, or a client that asked for everything), so nothing was done. */
  readonly listIsFixed?: boolean
}

export const noTransition: Transition = { changed: false, activated: [], deactivated: [], appeared: [], disappeared: [] }

export const fixedTransition: Transition = { ...noTransition, listIsFixed: true }

/** What switching these groups on and off did to a list. */
export function transitionOf(
  activated: Plan['on'],
  deactivated: Plan['off'],
  before: readonly Tool[],
  after: readonly Tool[],
): Transition {
  const had = new Set(before.map((tool) => tool.name))
  const has = new Set(after.map((tool) => tool.name))
  return {
    changed: true,
    activated: activated.filter((group) => group !== gateName),
    deactivated: deactivated.filter(({ group }) => group !== gateName),
    ...(activated.includes(gateName) && { gateOpened: true }),
    appeared: after.filter((tool) => !had.has(tool.name)),
    disappeared: [...had].filter((name) => !has.has(name)),
  }
}

type Phase = 'activate' | 'deactivate'

interface HookRun {
  readonly hooksOf: (group: string) => GroupHooks | undefined
  /** How long one hook may take. */
  readonly timeoutMs: number
  readonly report: Reporter
}

/** Runs the hooks of a plan in order. When one fails, those that ran are undone by their counterparts, last first. */
export async function runHooks(plan: Plan, scope: string, run: HookRun): Promise<void> {
  const steps: { group: string; phase: Phase }[] = [
    ...plan.off.map(({ group }) => ({ group, phase: 'deactivate' as const })),
    ...plan.on.map((group) => ({ group, phase: 'activate' as const })),
  ]
  const done: typeof steps = []
  for (const step of steps) {
    try {
      await runHook(step, scope, run)
    } catch (error) {
      await undo(done.reverse(), scope, run)
      const why = wordsOf(error) || 'its hook failed without saying why'
      throw new Failure('hook_failed', `Group "${step.group}" could not be ${step.phase}d: ${why}. Nothing was changed.`, step, {
        cause: error,
      })
    }
    done.push(step)
  }
}

async function runHook(
  { group, phase }: { group: string; phase: Phase },
  scope: string,
  { hooksOf, timeoutMs }: HookRun,
): Promise<void> {
  const hook = hooksOf(group)?.[phase]
  if (hook === undefined) return
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`its hook did not finish within ${timeoutMs / 1_000} seconds`)), timeoutMs)
  })
  try {
    await Promise.race([hook({ group, scope }), late])
  } finally {
    clearTimeout(timer)
  }
}

async function undo(steps: readonly { group: string; phase: Phase }[], scope: string, run: HookRun): Promise<void> {
  for (const { group, phase } of steps) {
    try {
      await runHook({ group, phase: phase === 'activate' ? 'deactivate' : 'activate' }, scope, run)
    } catch (error) {
      run.report({
        reason: 'hook_failed',
        message: `Undoing group "${group}" failed; what its hook did may be left behind.`,
        error,
      })
    }
  }
}
