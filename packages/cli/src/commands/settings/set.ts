import { removeJson, setJson } from '@unfold-mcp/client/edit'
import { exit, usageError } from '../../base/exit.ts'
import type { Io } from '../../base/io.ts'
import { unchangedText } from '../../gateway/apply.ts'
import { editServer } from '../../gateway/config-edit.ts'
import { reloadGateways } from '../../gateway/reload.ts'
import { type Invocation, textsOf } from '../../grammar/grammar.ts'
import { safeText } from '../../text/safe.ts'

interface Change {
  readonly path: readonly string[]
  /** `undefined` removes the setting. */
  readonly value: unknown
}

/** Changes settings of a server in the configuration, and reloads running gateways. */
export async function run(invocation: Invocation, io: Io): Promise<number> {
  const [server, ...assignments] = invocation.positionals
  const removed = textsOf(invocation.flags, 'remove')
  if (server === undefined || assignments.length + removed.length === 0)
    throw usageError('Usage: unfold set <server> <key>=<value> … [--remove <key>]')
  const changes = [...assignments.map(changeOf), ...removed.map((key): Change => ({ path: pathOf(key), value: undefined }))]
  const { file, name, output, applied } = await editServer({ ...invocation, positionals: [server] }, io, (text, entry) =>
    changes.reduce((now, { path, value }) => {
      const full = [...entry, ...path]
      return value === undefined ? removeJson(full)(now) : setJson(full, value)(now)
    }, text),
  )
  const reloaded = applied.changed ? await reloadGateways(file, io, output) : []
  output.result(applied.changed ? `Changed ${safeText(name)}` : unchangedText(invocation.flags), { name, ...applied, reloaded })
  if (applied.changed && reloaded.length === 0)
    output.note('No gateway is running with this configuration. Start one with "unfold serve".')
  return exit.ok
}

function changeOf(assignment: string): Change {
  const at = assignment.indexOf('=')
  if (at < 1) throw usageError(`"${assignment}" is not an assignment. Usage: unfold set <server> <key>=<value> …`)
  const [path, text] = [pathOf(assignment.slice(0, at)), assignment.slice(at + 1)]
  return { path, value: path.length > 1 ? text : settingOf(text) }
}

/** Only variables and headers are set one by one; their names may contain dots. */
function pathOf(key: string): readonly string[] {
  const [, table = '', name = ''] = /^(env|headers)\.(.+)$/su.exec(key) ?? []
  return table === '' ? [key] : [table, name]
}

/** A number, list or other JSON; anything else is a text. Variables and headers are always texts. */
function settingOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
