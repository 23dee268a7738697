/** A rollout of a service from one release to another. */
export interface Rollout {
  readonly id: string
  readonly service: string
  /** `undefined` for the initial release. */
  readonly from: string | undefined
  readonly to: string
  readonly broken: boolean
  readonly pods: number
  /** In milliseconds. */
  readonly started: number
  readonly rolledBack: boolean
}

export type Stage = 'rolling' | 'stuck' | 'done' | 'rolled back'

/** Time to replace one pod. */
const podMs = 2_000

/** Returns the number of pods with the new release. A broken release stops at the first. */
export function replacedPods({ started, pods, broken }: Rollout, now: number): number {
  return Math.min(Math.floor((now - started) / podMs), broken ? 1 : pods)
}

export function stageOf(rollout: Rollout, now: number): Stage {
  if (rollout.rolledBack) return 'rolled back'
  const replaced = replacedPods(rollout, now)
  if (rollout.broken) return replaced === 0 ? 'rolling' : 'stuck'
  return replaced < rollout.pods ? 'rolling' : 'done'
}

export interface Pod {
  readonly name: string
  readonly version: string
  readonly status: 'running' | 'crashing'
}

/** Returns the pods of a service after this rollout. */
export function podsOf(rollout: Rollout, replicas: number, now: number): readonly Pod[] {
  const stage = stageOf(rollout, now)
  const replaced = stage === 'done' ? replicas : replacedPods(rollout, now)
  return Array.from({ length: replicas }, (_, index) => {
    const isNew = index < replaced
    return {
      name: `${rollout.service}-${index + 1}`,
      version: isNew ? rollout.to : (rollout.from ?? rollout.to),
      status: isNew && rollout.broken ? 'crashing' : 'running',
    }
  })
}
