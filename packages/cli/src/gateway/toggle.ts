import { jsonAt, removeJson, setJson } from '@unfold-mcp/client/edit'
import { exit } from '../base/exit.ts'
import type { Io } from '../base/io.ts'
import type { Invocation } from '../grammar/grammar.ts'
import { safeText } from '../text/safe.ts'
import { unchangedText } from './apply.ts'
import { editServer } from './config-edit.ts'
import { reloadGateways } from './reload.ts'

/** Enables or disables a server, and reloads running gateways. */
export async function toggleServer(verb: 'enable' | 'disable', invocation: Invocation, io: Io): Promise<number> {
  const { file, name, output, applied } = await editServer(invocation, io, (text, server) => {
    const path = [...server, 'disabled']
    const isDisabled = jsonAt(text, path) === true
    if (isDisabled === (verb === 'disable')) return text
    return isDisabled ? removeJson(path)(text) : setJson(path, true)(text)
  })
  const reloaded = applied.changed ? await reloadGateways(file, io, output) : []
  const done = `${verb === 'enable' ? 'Enabled' : 'Disabled'} ${safeText(name)}`
  output.result(applied.changed ? done : unchangedText(invocation.flags), { name, ...applied, reloaded })
  if (applied.changed && reloaded.length === 0)
    output.note('No gateway is running with this configuration. Start one with "unfold serve".')
  return exit.ok
}
