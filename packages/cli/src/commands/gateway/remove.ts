import { exit } from '../../base/exit.ts'
import type { Io } from '../../base/io.ts'
import { removeJson } from '../../edit/json.ts'
import { editConfig, reportConfig, requireServer } from '../../gateway/config-edit.ts'
import { requireConfig } from '../../gateway/config-file.ts'
import { type Invocation, onePositional, textOf } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'
import { safeText } from '../../text/safe.ts'

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const { flags } = invocation
  const output = new Output(io, flags)
  const name = onePositional(invocation)
  const file = await requireConfig(textOf(flags, 'config'), io)
  const edit = (text: string): string => {
    requireServer(text, name, file)
    return removeJson(['mcpServers', name])(text)
  }
  const { read, ...applied } = await editConfig(file, edit, { flags, io, output })
  reportConfig(file, read, output)
  output.result(applied.changed ? `Removed ${safeText(name)}` : 'No changes.', {
    name,
    ...applied,
  })
  return exit.ok
}
