import { createHash } from 'node:crypto'
import { dataFolder, type Io, isInteractive } from '../base/io.ts'
import { type Approval, approvalStore, permissionFor } from '../config/index.ts'
import { type Flags, isSet } from '../grammar/grammar.ts'
import { requireConfirmation } from '../interactive/require-confirmation.ts'
import type { Output } from '../output/output.ts'
import { safeText } from '../text/safe.ts'

const requestFor = (file: string, command: string) =>
  ({
    key: `\${command:${command}}`,
    trust: 'project',
    source: { client: 'unfold', file, line: 1 },
    hash: createHash('sha256').update(`command\0${command}`).digest('hex'),
  }) as const

/** Commands in `${command:…}` that an edit of a valid configuration adds. */
export async function addedCommands(before: string | undefined, after: string): Promise<readonly string[]> {
  const { secretCommandsIn } = await import('@unfold-mcp/gateway/config')
  const known = before === undefined ? [] : secretCommandsIn(before)
  return secretCommandsIn(after).filter((command) => !known.includes(command))
}

/** Records the consent of the user, so that a running gateway may run these commands. */
export async function approveCommands(file: string, commands: readonly string[], io: Io, output: Output): Promise<void> {
  const store = approvalStore(dataFolder(io), (message) => output.warn(message))
  for (const command of commands) await store.approve(requestFor(file, command))
}

/**
 * Asks for consent to the commands of a configuration that the user has not approved yet. Commands that the gateway found when it
 * started need none. Without a terminal they stay unapproved, unless --yes is set.
 */
export async function approveNewCommands(
  file: string,
  { flags, io, output }: { readonly flags: Flags; readonly io: Io; readonly output: Output },
): Promise<void> {
  const { secretCommands, writtenConfig } = await import('@unfold-mcp/gateway/config')
  const written = await writtenConfig(file).catch(() => undefined)
  const approvals = await approvalStore(dataFolder(io), (message) => output.warn(message)).list()
  const unknown = written === undefined ? [] : secretCommands(written).filter((each) => !isCommandApproved(file, each, approvals))
  if (unknown.length === 0 || (!isSet(flags, 'yes') && (!isInteractive(io) || isSet(flags, 'no-input')))) return
  const lines = unknown.map((command) => `\n  ${safeText(command, { limit: 2_000 })}`)
  const question = `${safeText(file)} runs these commands to read secrets:${lines.join('')}\nRun them?`
  await requireConfirmation(question, { flags, io, otherwise: 'Not reloaded.' })
  await approveCommands(file, unknown, io, output)
}

/** Whether the user consented to a command of this configuration. */
export const isCommandApproved = (file: string, command: string, approvals: readonly Approval[]): boolean =>
  permissionFor(requestFor(file, command), approvals) === 'allowed'
