import { nearest, nearestHint } from '@unfold-mcp/core'
import { exit, usageError } from '../base/exit.ts'
import type { Io } from '../base/io.ts'
import { jsonAt, removeJson, setJson } from '../edit/json.ts'
import { type Invocation, textOf } from '../grammar/grammar.ts'
import { Output } from '../output/output.ts'
import { safeText } from '../text/safe.ts'
import { editConfig, reportConfig } from './config-edit.ts'
import { requireConfig } from './config-file.ts'
import { adminRequest, findGateways } from './running.ts'

/** Enables or disables a server, and reloads running gateways. */
export async function toggleServer(verb: 'enable' | 'disable', { positionals, flags }: Invocation, io: Io): Promise<number> {
  const output = new Output(io, flags)
  const [name, ...others] = positionals
  if (name === undefined || others.length > 0) throw usageError(`Which server? unfold ${verb} <server>`)
  const file = await requireConfig(textOf(flags, 'config'), io)
  const edit = (text: string): string => {
    const servers = jsonAt(text, ['mcpServers'])
    const names = typeof servers === 'object' && servers !== null ? Object.keys(servers) : []
    if (!names.includes(name)) throw usageError(`${file} has no server "${name}".${nearestHint(nearest(name, names))}`)
    const path = ['mcpServers', name, 'disabled']
    const isDisabled = jsonAt(text, path) === true
    if (isDisabled === (verb === 'disable')) return text
    return isDisabled ? removeJson(path)(text) : setJson(path, true)(text)
  }
  const { read, ...applied } = await editConfig(file, edit, { flags, io, output })
  reportConfig(file, read, output)
  const reloaded = applied.changed ? await reloadGateways(file, io) : []
  const state = `${safeText(name)} is ${verb}d`
  output.answer(applied.changed ? `${state}.` : `Nothing was written.`, { name, ...applied, reloaded })
  if (applied.changed && reloaded.length === 0)
    output.note('No gateway runs with this configuration. Start it with unfold serve.')
  return exit.ok
}

async function reloadGateways(file: string, io: Io): Promise<readonly number[]> {
  const gateways = await findGateways({ config: file }, io)
  for (const gateway of gateways) await adminRequest(gateway, 'reload', { method: 'POST', signal: io.signal })
  return gateways.map(({ pid }) => pid)
}
