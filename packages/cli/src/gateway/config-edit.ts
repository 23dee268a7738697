import { isRecord, nearest, nearestHint } from '@unfold-mcp/core'
import type { ReadConfig } from '@unfold-mcp/gateway/config'
import { usageError } from '../base/exit.ts'
import type { Io } from '../base/io.ts'
import { ownPackages } from '../base/packages.ts'
import type { Edit } from '../edit/edit.ts'
import { planEdit } from '../edit/file.ts'
import { jsonAt, setJson } from '../edit/json.ts'
import { type Flags, textOf } from '../grammar/grammar.ts'
import { addedVariables, requireCodeConsent } from '../interactive/code-consent.ts'
import type { Output } from '../output/output.ts'
import { safeText } from '../text/safe.ts'
import { type ApplyOptions, type ApplyResult, applyEdit, withEditErrors } from './apply.ts'
import { findConfig, userConfigFile } from './config-file.ts'
import { addedCommands, approveCommands } from './secret-commands.ts'

/** An existing configuration, or the path of the user configuration. */
export async function configToEdit(flags: Flags, io: Io): Promise<string> {
  return (await findConfig(textOf(flags, 'config'), io)) ?? userConfigFile(io)
}

/** Edits the configuration of a gateway; rejects edits that make it invalid. `review` returns a question to ask before writing. */
export async function editConfig(
  file: string,
  edit: Edit,
  applying: ApplyOptions,
  review?: (after: ReadConfig) => Promise<string | undefined>,
): Promise<ApplyResult & { readonly read: ReadConfig }> {
  const { parseConfig } = await import('@unfold-mcp/gateway/config')
  const { io } = applying
  const read = (text: string): ReadConfig => parseConfig(text, { file, environment: io.env })
  const plan = await withEditErrors(
    planEdit(file, (text) => {
      const after = edit(withSchema(text))
      read(after)
      return after
    }),
  )
  const { flags, output } = applying
  const variables = addedVariables(serversIn(plan.before), serversIn(plan.after))
  const commands = await addedCommands(plan.before, plan.after)
  const applied = await applyEdit(plan, {
    ...applying,
    ...(review !== undefined && { question: () => review(read(plan.after)) }),
    consent: () => requireCodeConsent(variables, { flags, io, otherwise: 'No changes written.' }),
    // Before a running gateway reads the file.
    confirmed: () => approveCommands(file, commands, io, output),
  })
  return { ...applied, read: read(plan.after) }
}

const serversIn = (text: string | undefined): unknown => (text === undefined ? undefined : jsonAt(text, ['mcpServers']))

/** Throws if the configuration does not define the server. */
export function requireServer(text: string, name: string, file: string): void {
  const servers = jsonAt(text, ['mcpServers'])
  const names = isRecord(servers) ? Object.keys(servers) : []
  if (!names.includes(name)) throw usageError(`Unknown server "${name}" in ${file}.${nearestHint(nearest(name, names))}`)
}

/** Prints warnings, and servers that are not started. */
export function reportConfig(file: string, { notStarted, warnings }: ReadConfig, output: Output): void {
  for (const warning of warnings) output.warn(`${file}:${warning.line} ${warning.path} ${warning.message}`)
  for (const [name, [problem]] of notStarted) output.note(`${safeText(name)} not started: ${safeText(problem?.message ?? '')}`)
}

// Editors use the schema for completion and validation.
const withSchema: Edit = (text) =>
  text.trim() === '' ? setJson(['mcpServers'], {})(setJson(['$schema'], ownPackages().schema)('')) : text
