import { access } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { jsonAt, setJson } from '@unfold-mcp/client/edit'
import { isLiteralSecret, secretReferencesIn } from '@unfold-mcp/core'
import type { ReadConfig } from '@unfold-mcp/gateway/config'
import { exit, usageError } from '../../base/exit.ts'
import type { Io } from '../../base/io.ts'
import { commandPath } from '../../doctor/command-path.ts'
import { unchangedText } from '../../gateway/apply.ts'
import { configToEdit, editConfig, reportConfig } from '../../gateway/config-edit.ts'
import { type Flags, type Invocation, isSet, textOf, textsOf } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'
import { findingText, type Inspection, inspectionText, inspectServer } from '../../review/inspection.ts'
import { canAsk } from '../../review/reviewer.ts'
import { safeText } from '../../text/safe.ts'

const usage = 'Usage: unfold add <name> <url>, or unfold add <name> -- <command …>'

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const { flags } = invocation
  const output = new Output(io, flags)
  const [name] = invocation.positionals
  if (name === undefined) throw usageError(`Missing server name. ${usage}`)
  const file = await configToEdit(flags, io)
  const target = await targetFrom(invocation, dirname(file), io)
  const server = { ...target, ...settingsFrom(flags) }
  const edit = (text: string): string => {
    if (jsonAt(text, ['mcpServers', name]) !== undefined && !isSet(flags, 'force'))
      throw usageError(`${file} already has a server "${name}". Choose another name, or replace it with --force.`)
    return setJson(['mcpServers', name], server)(text)
  }
  const secrets = literalSecrets(target)
  let inspection: Inspection | undefined
  const review = async (read: ReadConfig): Promise<string | undefined> => {
    if (secretReferencesIn(JSON.stringify(target)).length > 0) {
      output.note('Not checked, because it uses stored secrets. The gateway checks it when it starts.')
      return undefined
    }
    inspection = await inspectServer(name, read, { file, flags, io, output })
    if (inspection === undefined) return undefined
    output.note(inspectionText(name, inspection))
    for (const finding of inspection.findings) output.warn(findingText(finding))
    return canAsk(flags, io) ? `Add ${safeText(name)}?` : undefined
  }
  const { read, ...applied } = await editConfig(file, edit, { flags, io, output }, review)
  for (const secret of secrets) output.warn(secretAdvice(name, secret))
  if (target.command !== undefined && (await commandPath(target.command, { ...io, cwd: target.cwd ?? io.cwd })) === undefined)
    output.warn(`Command not found: ${target.command}. Install it, or use its full path.`)
  reportConfig(file, read, output)
  output.result(applied.changed ? `Added ${safeText(name)}` : unchangedText(flags), {
    name,
    ...applied,
    ...(inspection !== undefined && { inspection }),
  })
  return exit.ok
}

interface Target {
  readonly command?: string
  readonly args?: readonly string[]
  readonly env?: Record<string, string>
  readonly cwd?: string
  readonly url?: string
  readonly headers?: Record<string, string>
}

async function targetFrom({ positionals, rest, command, flags }: Invocation, folder: string, io: Io): Promise<Target> {
  const [, first] = positionals
  if (command !== undefined && first !== undefined) throw usageError(`Only the name may precede "--". ${usage}`)
  const given = command ?? (first === undefined ? [] : [first, ...rest])
  const [program, ...args] = given
  if (program === undefined) throw usageError(`Missing URL or command. ${usage}`)
  const env = textsOf(flags, 'env')
  const headers = textsOf(flags, 'header')
  if (/^https?:\/\//iu.test(program)) {
    if (args.length > 0) throw usageError(`Unexpected argument "${args[0]}" after the URL.`)
    if (env.length > 0) throw usageError('--env requires a server started by a command. Use --header for a URL.')
    if (textOf(flags, 'sandbox') !== undefined) throw usageError('--sandbox requires a server started by a command.')
    return { url: program, ...(headers.length > 0 && { headers: Object.fromEntries(headers.map(headerFrom)) }) }
  }
  if (headers.length > 0) throw usageError('--header requires a server at a URL. Use --env for a command.')
  const hasLocalPath = (await Promise.all(given.map((word) => isFile(word, io)))).some(Boolean)
  return {
    command: program,
    ...(args.length > 0 && { args }),
    ...(env.length > 0 && { env: Object.fromEntries(env.map(variableFrom)) }),
    // Relative paths refer to the current folder.
    ...(hasLocalPath && folder !== io.cwd && { cwd: io.cwd }),
  }
}

const isFile = (word: string, { cwd }: Io): Promise<boolean> =>
  access(resolve(cwd, word)).then(
    () => resolve(word) !== word,
    () => false,
  )

function variableFrom(text: string): readonly [string, string] {
  const at = text.indexOf('=')
  if (at === 0) throw usageError(`--env must be NAME=value or NAME, not "${text}".`)
  return at === -1 ? [text, `\${${text}}`] : [text.slice(0, at), text.slice(at + 1)]
}

function headerFrom(text: string): readonly [string, string] {
  const at = text.indexOf(':')
  if (at < 1) throw usageError(`--header must be "name: value", not "${text}".`)
  return [text.slice(0, at).trim(), text.slice(at + 1).trim()]
}

function settingsFrom(flags: Flags): object {
  const description = textOf(flags, 'description') ?? textOf(flags, 'about')
  const group = textOf(flags, 'group')
  return {
    ...(description !== undefined && { description }),
    ...(group !== undefined && { group }),
    ...sandboxFrom(flags),
    ...(isSet(flags, 'lazy') && { start: 'lazy' }),
    ...(isSet(flags, 'disabled') && { disabled: true }),
  }
}

const presets = ['none', 'files', 'strict']

function sandboxFrom(flags: Flags): object {
  const sandbox = textOf(flags, 'sandbox')
  if (sandbox === undefined) return {}
  if (!presets.includes(sandbox)) throw usageError(`--sandbox must be ${presets.join(', ')}, not "${sandbox}".`)
  return { sandbox }
}

interface LiteralSecret {
  readonly flag: 'env' | 'header'
  readonly key: string
  readonly value: string
}

function literalSecrets({ env = {}, headers = {} }: Target): readonly LiteralSecret[] {
  const all: readonly LiteralSecret[] = [
    ...Object.entries(env).map(([key, value]) => ({ flag: 'env', key, value }) as const),
    ...Object.entries(headers).map(([key, value]) => ({ flag: 'header', key, value }) as const),
  ]
  return all.filter(({ key, value }) => isLiteralSecret(key, value))
}

function secretAdvice(server: string, { flag, key, value }: LiteralSecret): string {
  const [scheme = ''] = /^(?:Bearer|Basic|Token) /iu.exec(value) ?? []
  const variable = (flag === 'env' ? key : `${server}_TOKEN`).toUpperCase().replaceAll(/\W/gu, '_')
  const instead = flag === 'env' ? key : `'${key}: ${scheme}\${${variable}}'`
  return `The value of ${key} is stored in the file in plain text. Use an environment variable (${variable}) instead: --${flag} ${instead} --force`
}
