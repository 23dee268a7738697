import { log, multiselect } from '@clack/prompts'
import { validateArguments } from '@unfold-mcp/client'
import type { Tool } from '@unfold-mcp/core'
import { type Field, formOf } from '@unfold-mcp/core/form'
import type { ParsedArguments } from '../arguments/parse.ts'
import { setPropertyAt } from '../arguments/property.ts'
import type { Io } from '../base/io.ts'
import { safeText } from '../text/safe.ts'
import { askField, type Check } from './field.ts'
import { promptTerminal, requireAnswer } from './terminal.ts'

const maxOffered = 100

/** Prompts for missing arguments, then offers the optional ones. */
export async function promptForArguments(
  tool: Tool,
  parsed: ParsedArguments,
  io: Io,
): Promise<Readonly<Record<string, unknown>>> {
  const args: Record<string, unknown> = structuredClone({ ...parsed.args })
  const asking = { io, signal: io.signal, check: argumentCheck(tool, args) }
  for (const field of parsed.missing) setPropertyAt(args, field.path, await askField(field, asking))
  for (const field of await chooseOptional(tool, args, io)) setPropertyAt(args, field.path, await askField(field, asking))
  return args
}

/** Validates against the complete schema of the tool, and returns problems of this field. */
export function argumentCheck(tool: Tool, args: Readonly<Record<string, unknown>>): Check {
  return (field, value) => {
    const tried: Record<string, unknown> = structuredClone({ ...args })
    setPropertyAt(tried, field.path, value)
    const path = field.path.join('.')
    const { problems } = validateArguments(tool, tried)
    const mine = problems.filter((problem) => problem.path === path || problem.path.startsWith(`${path}.`))
    return mine.length === 0 ? undefined : safeText(mine.map(({ message }) => message).join('; '), { limit: 300 })
  }
}

async function chooseOptional(tool: Tool, args: Readonly<Record<string, unknown>>, io: Io): Promise<readonly Field[]> {
  const optional = formOf(tool.inputSchema).fields.filter(({ name, required }) => !required && !Object.hasOwn(args, name))
  if (optional.length === 0) return []
  const terminal = promptTerminal(io)
  if (optional.length > maxOffered) log.info(`${optional.length - maxOffered} more parameters: see --help.`, terminal)
  const chosen = await multiselect({
    message: 'Optional parameters (Space to select, Enter to continue)',
    options: optional.slice(0, maxOffered).map((field) => ({
      value: { field },
      label: safeText(field.label === '' ? field.name : field.label, { limit: 60 }),
      ...(field.description !== undefined && { hint: safeText(field.description, { limit: 80 }) }),
    })),
    required: false,
    maxItems: 10,
    ...terminal,
  })
  return requireAnswer(chosen).map(({ field }) => field)
}
