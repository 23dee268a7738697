import { exit } from '../base/exit.ts'
import type { Io } from '../base/io.ts'
import { jsonAt, removeJson, setJson } from '../edit/json.ts'
import { type Invocation, onePositional, textOf } from '../grammar/grammar.ts'
import { Output } from '../output/output.ts'
import { safeText } from '../text/safe.ts'
import { editConfig, reportConfig, requireServer } from './config-edit.ts'
import { requireConfig } from './config-file.ts'
import { reloadGateways } from './reload.ts'

/** Enables or disables a server, and reloads running gateways. */
export async function toggleServer(verb: 'enable' | 'disable', invocation: Invocation, io: Io): Promise<number> {
  const { flags } = invocation
  const output = new Output(io, flags)
  const name = onePositional(invocation)
  const file = await requireConfig(textOf(flags, 'config'), io)
  const edit = (text: string): string => {
    requireServer(text, name, file)
    const path = ['mcpServers', name, 'disabled']
    const isDisabled = jsonAt(text, path) === true
    if (isDisabled === (verb === 'disable')) return text
    return isDisabled ? removeJson(path)(text) : setJson(path, true)(text)
  }
  const { read, ...applied } = await editConfig(file, edit, { flags, io, output })
  reportConfig(file, read, output)
  const reloaded = applied.changed ? await reloadGateways(file, io, output) : []
  const done = `${verb === 'enable' ? 'Enabled' : 'Disabled'} ${safeText(name)}`
  output.result(applied.changed ? done : 'No changes.', { name, ...applied, reloaded })
  if (applied.changed && reloaded.length === 0)
    output.note('No gateway is running with this configuration. Start one with "unfold serve".')
  return exit.ok
}
