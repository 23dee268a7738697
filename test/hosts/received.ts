import type { HostRun } from '../../bench/src/hosts/run.ts'

/** The texts of all tool results as the model received them in the last request. */
export function lastTexts({ turns }: HostRun): readonly string[] {
  const messages = turns.at(-1)?.request.messages ?? []
  return messages.flatMap((each) => (each.kind === 'result' ? [each.result.text] : []))
}
