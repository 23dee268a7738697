import { resolve } from 'node:path'
import { type Edit, jsonAt, type PlannedEdit, planEdit, setJson } from '@unfold-mcp/client/edit'
import { isRecord, nearest, nearestHint } from '@unfold-mcp/core'
import type { ReadConfig } from '@unfold-mcp/gateway/config'
import { errorMessage } from '../base/error-message.ts'
import { usageError } from '../base/exit.ts'
import { dataFolder, type Io } from '../base/io.ts'
import { ownPackages } from '../base/packages.ts'
import { type Flags, type Invocation, onePositional, textOf } from '../grammar/grammar.ts'
import { addedVariables, requireCodeConsent } from '../interactive/code-consent.ts'
import { Output } from '../output/output.ts'
import { safeText } from '../text/safe.ts'
import { type ApplyOptions, type ApplyResult, applyEdit, withEditErrors } from './apply.ts'
import { findConfig, requireConfig, userConfigFile } from './config-file.ts'
import { gatewaysOf } from './reload.ts'

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
  const read = (text: string): ReadConfig => parseConfig(text, { file, environment: io.env, isEdit: true })
  const plan = await withEditErrors(
    planEdit(file, (text) => {
      const after = edit(withSchema(text))
      read(after)
      return after
    }),
  )
  const { flags, output } = applying
  const variables = addedVariables(serversIn(plan.before), serversIn(plan.after))
  const applied = await applyEdit(plan, {
    ...applying,
    ...(review !== undefined && { question: () => review(read(plan.after)) }),
    consent: () => requireCodeConsent(variables, { flags, io, otherwise: 'No changes written.' }),
    // Before a running gateway reads the file.
    confirmed: () => approvePlanned(file, plan, io, output),
  })
  return { ...applied, read: read(plan.after) }
}

/** Approves what the edit changes, also for gateways that know the file by another path. */
async function approvePlanned(file: string, plan: PlannedEdit, io: Io, output: Output): Promise<void> {
  const { approveOwnEdit } = await import('@unfold-mcp/gateway/consent')
  const paths = new Set([resolve(file), ...(await gatewaysOf(file, io)).map(({ config }) => config)])
  for (const path of paths)
    await approveOwnEdit(path, dataFolder(io), plan).catch((error: unknown) =>
      output.warn(`The approval could not be stored (${errorMessage(error)}). A running gateway may ask for it: unfold review`),
    )
}

const serversIn = (text: string | undefined): unknown => (text === undefined ? undefined : jsonAt(text, ['mcpServers']))

/** Edits the entry of the server that a command names. Throws if the configuration does not define it. */
export async function editServer(
  invocation: Invocation,
  io: Io,
  edit: (text: string, path: readonly [string, string]) => string,
): Promise<{ readonly file: string; readonly name: string; readonly output: Output; readonly applied: ApplyResult }> {
  const { flags } = invocation
  const output = new Output(io, flags)
  const name = onePositional(invocation)
  const file = await requireConfig(textOf(flags, 'config'), io)
  const editKnown: Edit = (text) => {
    const servers = serversIn(text)
    const names = isRecord(servers) ? Object.keys(servers) : []
    if (names.includes(name)) return edit(text, ['mcpServers', name])
    throw usageError(`Unknown server "${name}" in ${file}.${nearestHint(nearest(name, names))}`)
  }
  const { read, ...applied } = await editConfig(file, editKnown, { flags, io, output })
  reportConfig(file, read, output)
  return { file, name, output, applied }
}

/** Prints warnings, and servers that are not started. */
export function reportConfig(file: string, { notStarted, warnings }: ReadConfig, output: Output): void {
  for (const warning of warnings) output.warn(`${file}:${warning.line} ${warning.path} ${warning.message}`)
  for (const [name, [problem]] of notStarted) output.note(`${safeText(name)} not started: ${safeText(problem?.message ?? '')}`)
}

// Editors use the schema for completion and validation.
const withSchema: Edit = (text) =>
  text.trim() === '' ? setJson(['mcpServers'], {})(setJson(['$schema'], ownPackages().schema)('')) : text
