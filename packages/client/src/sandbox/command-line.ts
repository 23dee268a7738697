import { type CommandTarget, labelOf } from '../config/target.ts'
import { namespaced, usableBubblewrap } from '../process/namespace.ts'
import { sandboxed } from './sandboxed.ts'

export interface CommandLine extends Pick<CommandTarget, 'command' | 'args'> {
  /** True if the server runs in a PID namespace of its own. */
  readonly isNamespaced: boolean
}

/** The command of a server, in its sandbox or namespace if it has one. `env` is the whole environment of the process. */
export async function commandLine(
  target: CommandTarget,
  env: Readonly<Record<string, string>>,
  onWarning: ((warning: string) => void) | undefined,
): Promise<CommandLine> {
  const { sandbox, processes } = target
  if (sandbox !== undefined) return { ...(await sandboxed({ ...target, sandbox }, env)), isNamespaced: true }
  if (processes !== 'namespace') return { ...target, isNamespaced: false }
  const bubblewrap = await usableBubblewrap()
  if (bubblewrap !== undefined) return { ...namespaced(bubblewrap, target), isNamespaced: true }
  onWarning?.(
    `${labelOf(target)} runs without a PID namespace, because bubblewrap (bwrap) is not installed or not allowed here. Install it on Linux, or remove "processes": "namespace".`,
  )
  return { ...target, isNamespaced: false }
}
