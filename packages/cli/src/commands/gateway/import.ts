import { basename, dirname } from 'node:path'
import { EditError, jsonAt, setJson } from '@unfold-mcp/client/edit'
import { exit, usageError } from '../../base/exit.ts'
import type { Io } from '../../base/io.ts'
import { type Candidate, importCandidates } from '../../clients/candidates.ts'
import { serversIn } from '../../clients/duplicates.ts'
import { type FoundServer, type FoundServers, problemText } from '../../config/index.ts'
import { clientNames } from '../../config/locations.ts'
import { unchangedText } from '../../gateway/apply.ts'
import { configToEdit, editConfig, reportConfig } from '../../gateway/config-edit.ts'
import { findGateways } from '../../gateway/running.ts'
import { type Invocation, textOf } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'
import { discoverServers } from '../../servers/servers.ts'
import { plural } from '../../text/number.ts'
import { safeText } from '../../text/safe.ts'
import { tableLines } from '../../text/table.ts'

const nothingFound =
  'No servers found in the configuration of your MCP clients. Run "unfold doctor" to see the files, or add one: unfold add <name> -- <command>'

const clients: { readonly [name: string]: string } = { claude: 'claude-code' }
const known: readonly string[] = clientNames

/** Imports servers from other MCP clients, without changing their files. */
export async function run({ positionals, flags }: Invocation, io: Io): Promise<number> {
  const output = new Output(io, flags)
  const file = await configToEdit(flags, io)
  const { found, isFile } = await foundIn(textOf(flags, 'from'), io)
  // Problems in unfold.json are reported by the gateway.
  const problems = isFile ? found.problems : found.problems.filter((problem) => basename(problem.file) !== 'unfold.json')
  for (const problem of problems) if (problem.unset === undefined) output.warn(`skipped: ${problemText(problem)}`)
  const all = importCandidates([...found.servers, ...found.incomplete], {
    present: await serversIn(file),
    own: await ownAddresses(file, io),
    isNamed: isFile,
    ...(dirname(file) !== io.cwd && { folder: io.cwd }),
  })
  const chosen =
    positionals.length === 0
      ? all
      : all.filter(({ name, server }) => positionals.some((word) => word === name || word === server.key))
  for (const word of positionals)
    if (!chosen.some(({ name, server }) => word === name || word === server.key))
      throw usageError(`Unknown server "${word}". Available: ${all.map(({ name }) => name).join(', ') || 'none'}.`)
  const wanted = chosen.filter(({ skipped }) => skipped === undefined)
  output.note(chosen.length === 0 ? nothingFound : tableText(chosen, output.width))
  const data = chosen.map(({ name, server, skipped }) => ({
    name,
    source: server.source,
    target: server.shown,
    ...(skipped !== undefined && { skipped }),
    ...(server.unset.length > 0 && { unset: server.unset }),
  }))
  if (wanted.length === 0) {
    output.result('Nothing to import.', { file, changed: false, servers: data })
    return exit.ok
  }
  const edit = (text: string): string =>
    wanted.reduce((now, { name, definition }) => {
      // The names were chosen for the file as it was before the confirmation.
      if (jsonAt(now, ['mcpServers', name]) !== undefined)
        throw new EditError(`Another command added a server "${name}" meanwhile. Import again.`)
      return setJson(['mcpServers', name], definition)(now)
    }, text)
  const { read, ...applied } = await editConfig(file, edit, {
    flags,
    io,
    output,
    question: `Import ${plural(wanted.length, 'server')}?`,
  })
  reportConfig(file, read, output)
  output.result(
    applied.changed
      ? `Imported ${plural(wanted.length, 'server')} into ${safeText(file)}\nNext: unfold serve, then unfold connect <client>. The configuration of your clients is unchanged.`
      : unchangedText(flags),
    { ...applied, servers: data },
  )
  return exit.ok
}

async function foundIn(from: string | undefined, io: Io): Promise<{ readonly found: FoundServers; readonly isFile: boolean }> {
  const client = from === undefined ? undefined : (clients[from] ?? from)
  if (client !== undefined && !known.includes(client)) return { found: await discoverServers({ config: from }, io), isFile: true }
  const { servers, incomplete, problems } = await discoverServers({}, io)
  const isOf = ({ source, also }: FoundServer): boolean =>
    client === undefined || [source, ...also].some((each) => each.client === client)
  return { found: { servers: servers.filter(isOf), incomplete: incomplete.filter(isOf), problems }, isFile: false }
}

/** URLs of running gateways and of one with this configuration. */
async function ownAddresses(file: string, io: Io): Promise<readonly string[]> {
  const running = await findGateways({}, io)
  const { readConfig } = await import('@unfold-mcp/gateway/config')
  const port = await readConfig(file, io.env).then(
    ({ config }) => config.listen.port,
    () => 7420,
  )
  return [...running.filter(({ transport }) => transport === 'http').map(({ url }) => url), `http://127.0.0.1:${port}/mcp`]
}

function tableText(candidates: readonly Candidate[], width: number): string {
  const rows = candidates.map(({ name, server, skipped }) => {
    const { shown, source } = server
    const where = 'url' in shown ? shown.url : [shown.command, ...(shown.args ?? [])].join(' ')
    return [
      `${skipped === undefined ? '+' : ' '} ${safeText(name)}`,
      source.client === 'unfold' ? basename(source.file) : source.client,
      `${noteOf(skipped, server.unset)}${safeText(where)}`,
    ]
  })
  return tableLines(rows, { width, last: 'cut' }).join('\n')
}

function noteOf(skipped: string | undefined, unset: readonly string[]): string {
  if (skipped !== undefined) return `(skipped: ${skipped}) `
  return unset.length === 0 ? '' : `(not set: ${unset.map((name) => safeText(name)).join(', ')}) `
}
