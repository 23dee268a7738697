import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { type Connection, type ConnectOptions, isClientError } from '@unfold-mcp/client'
import type { Tool } from '@unfold-mcp/core'
import { helpText } from '../../arguments/help.ts'
import { parseToolArguments } from '../../arguments/parse.ts'
import { CommandError, exit, usageError } from '../../base/exit.ts'
import { type Io, isInteractive } from '../../base/io.ts'
import { type Invocation, isSet, numberOf, textsOf } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'
import { progressFor } from '../../output/progress.ts'
import { writeResult } from '../../output/result.ts'
import { elicitationHandler } from '../../servers/elicit.ts'
import { callCommand, commandTail, listCommand, openServer } from '../../servers/servers.ts'
import { safeText } from '../../text/safe.ts'

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const output = new Output(io, invocation.flags)
  const { elicit, asks } = prompting(invocation, io, output)
  const { connection, label, positionals } = await openServer(invocation, io, output, elicit)
  await using _ = connection
  const command = callCommand(invocation, label, io)
  const [name] = positionals
  if (name === undefined && !asks) throw missingTool(command, listCommand(invocation, label))
  const { tool, isListed } = await chosenTool(connection, name, io)
  if (isSet(invocation.flags, 'help')) {
    output.result(helpText(tool, { width: output.width, style: output.style, command, after: commandTail(invocation) }), {
      server: label,
      tool,
    })
    return exit.ok
  }
  const called = { connection, label, tool, isListed, asks, command, isPicked: name === undefined }
  return await callTool(called, invocation, io, output)
}

/** Whether missing arguments are prompted for, and how elicitations are answered. */
export function prompting(
  { flags }: Invocation,
  io: Io,
  output: Output,
): { readonly elicit: Partial<ConnectOptions>; readonly asks: boolean } {
  const asks = isInteractive(io) && !isSet(flags, 'no-input') && !output.isJson
  const elicit = elicitationHandler(io, textsOf(flags, 'answer'), asks)
  return { elicit: elicit === undefined ? {} : { elicit }, asks }
}

export interface Called {
  readonly connection: Connection
  readonly label: string
  readonly tool: Tool
  /** Whether the server lists it; unlisted tools can still be called. */
  readonly isListed?: boolean
  readonly asks: boolean
  /** Command before the name of the tool. */
  readonly command: string
  /** Whether it was chosen interactively, so that no arguments were given. */
  readonly isPicked?: boolean
}

export async function callTool(
  { connection, label, tool, isListed = true, asks, command, isPicked = false }: Called,
  invocation: Invocation,
  io: Io,
  output: Output,
): Promise<number> {
  const { flags } = invocation
  const args = await argumentsFor(tool, invocation, { asks, io, command, isPicked })
  const progress = progressFor(io, flags, tool.name)
  try {
    const seconds = numberOf(flags, 'timeout')
    const maxSeconds = numberOf(flags, 'max-time')
    const result = await connection.call(tool.name, args, {
      signal: io.signal,
      unlisted: !isListed,
      onProgress: (report) => progress.report(report),
      ...(seconds !== undefined && { timeoutMs: seconds * 1_000 }),
      ...(maxSeconds !== undefined && { maxTimeoutMs: maxSeconds * 1_000 }),
    })
    progress.end()
    await writeResult(result, { io, output, flags, server: label, tool: tool.name })
    return result.isError ? exit.tool : exit.ok
  } finally {
    progress.end()
  }
}

const missingTool = (command: string, list: string): CommandError =>
  usageError(`Missing tool. Usage: ${command} <tool>. List the tools with: ${list}`)

type Chosen = Required<Pick<Called, 'tool' | 'isListed'>>

async function chosenTool(connection: Connection, name: string | undefined, io: Io): Promise<Chosen> {
  if (name !== undefined) return namedTool(connection, name)
  const { pickTool } = await import('../../interactive/pick.ts')
  return { tool: await pickTool(await connection.tools(), io), isListed: true }
}

/** Looks up a tool; servers with unlisted tools describe them on request. */
async function namedTool(connection: Connection, name: string): Promise<Chosen> {
  try {
    return { tool: await connection.tool(name), isListed: true }
  } catch (error) {
    if (!isClientError(error, 'unknown_tool')) throw error
    // The server's suggestions include unlisted tools.
    const { tool, listed } = await connection.describe(name).catch((other: unknown) => {
      throw isClientError(other, 'unknown_tool') ? other : error
    })
    return { tool, isListed: listed }
  }
}

/** Arguments of the command line; prompts for missing ones. */
async function argumentsFor(
  tool: Tool,
  { rest, flags, command: given }: Invocation,
  {
    asks,
    io,
    command,
    isPicked,
  }: { readonly asks: boolean; readonly io: Io; readonly command: string; readonly isPicked: boolean },
): Promise<Readonly<Record<string, unknown>>> {
  const parsed = await parseToolArguments(tool, rest, {
    readFile: (path) => readFile(resolve(io.cwd, path), 'utf8'),
    readStdin: () => text(io.stdin),
    values: textsOf(flags, 'args'),
  })
  const wrong = parsed.problems.filter(({ kind }) => kind !== 'missing')
  if (asks && wrong.length === 0 && (parsed.missing.length > 0 || isPicked)) {
    const { promptForArguments } = await import('../../interactive/form.ts')
    return promptForArguments(tool, parsed, io)
  }
  if (parsed.problems.length === 0) return parsed.args
  const lines = parsed.problems.map(({ message }) => `  ${message}`)
  throw new CommandError(
    exit.usage,
    'invalid_arguments',
    [
      `Invalid arguments for ${safeText(tool.name)}:`,
      ...lines,
      `Run "${command} ${safeText(tool.name)} --help${given === undefined ? '' : ' -- …'}" for usage.`,
    ].join('\n'),
    { details: { tool: tool.name, problems: parsed.problems } },
  )
}
