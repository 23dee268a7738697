import { removeJson } from '@unfold-mcp/client/edit'
import { exit } from '../../base/exit.ts'
import type { Io } from '../../base/io.ts'
import { unchangedText } from '../../gateway/apply.ts'
import { editServer } from '../../gateway/config-edit.ts'
import type { Invocation } from '../../grammar/grammar.ts'
import { safeText } from '../../text/safe.ts'

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const { name, output, applied } = await editServer(invocation, io, (text, path) => removeJson(path)(text))
  output.result(applied.changed ? `Removed ${safeText(name)}` : unchangedText(invocation.flags), { name, ...applied })
  return exit.ok
}
