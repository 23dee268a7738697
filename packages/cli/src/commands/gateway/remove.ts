import { nearest, nearestHint } from '@unfold-mcp/core'
import { exit, usageError } from '../../base/exit.ts'
import type { Io } from '../../base/io.ts'
import { jsonAt, removeJson } from '../../edit/json.ts'
import { editConfig, reportConfig } from '../../gateway/config-edit.ts'
import { requireConfig } from '../../gateway/config-file.ts'
import { type Invocation, textOf } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'
import { safeText } from '../../text/safe.ts'

export async function run({ positionals, flags }: Invocation, io: Io): Promise<number> {
  const output = new Output(io, flags)
  const [name, ...others] = positionals
  if (name === undefined || others.length > 0) throw usageError('Which one? unfold remove <server>')
  const file = await requireConfig(textOf(flags, 'config'), io)
  const edit = (text: string): string => {
    const servers = jsonAt(text, ['mcpServers'])
    const names = typeof servers === 'object' && servers !== null ? Object.keys(servers) : []
    if (!names.includes(name)) throw usageError(`${file} has no server "${name}".${nearestHint(nearest(name, names))}`)
    return removeJson(['mcpServers', name])(text)
  }
  const { read, ...applied } = await editConfig(file, edit, { flags, io, output })
  reportConfig(file, read, output)
  output.answer(applied.changed ? `${safeText(name)} is not behind the gateway any more.` : 'Nothing was written.', {
    name,
    ...applied,
  })
  return exit.ok
}
