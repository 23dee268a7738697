import { Failure, type Plan } from '@unfold-mcp/core'
import type { GroupHooks } from '../catalog/group-hooks.ts'
import { errorMessage, type Reporter } from '../tool/report.ts'

type Phase = 'activate' | 'deactivate'

interface HookRun {
  readonly hooksOf: (group: string) => GroupHooks | undefined
  readonly timeoutMs: number
  readonly report: Reporter
}

/** Runs the hooks of a plan in order. If one fails, those that ran are undone in reverse order. */
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
      const why = errorMessage(error) || 'its hook failed without a message'
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
        message: `Undoing group "${group}" failed; what its hook prepared may be left behind.`,
        error,
      })
    }
  }
}
