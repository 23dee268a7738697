import type { HostRun } from '../../bench/src/hosts/run.ts'

/** Returns the texts of all tool results in the last request to the model. */
export function lastTexts({ turns }: HostRun): readonly string[] {
  const messages = turns.at(-1)?.request.messages ?? []
  return messages.flatMap((each) => (each.kind === 'result' ? [each.result.text] : []))
}
