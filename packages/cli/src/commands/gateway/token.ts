import { appendJson, EditError, jsonAt, removeItemJson } from '@unfold-mcp/client/edit'
import { nearest, nearestHint } from '@unfold-mcp/core'
import type { Role, TokenAccess } from '@unfold-mcp/gateway/config'
import { exit, usageError } from '../../base/exit.ts'
import type { Io } from '../../base/io.ts'
import { unchangedText } from '../../gateway/apply.ts'
import { configToEdit, editConfig, reportConfig } from '../../gateway/config-edit.ts'
import { requireConfig } from '../../gateway/config-file.ts'
import { reloadGateways } from '../../gateway/reload.ts'
import { type Flags, type Invocation, textOf } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'
import { safeText } from '../../text/safe.ts'
import { tableLines } from '../../text/table.ts'

type Subcommand = (names: readonly string[], flags: Flags, io: Io) => Promise<number>

const subcommands: { readonly [name: string]: Subcommand } = { add, list, revoke, create: add }
const usage = 'unfold token add <name> [--profile <name> | --role <role>], unfold token list, unfold token revoke <name>'
// A token with such a name is most likely a typing error.
const reserved = new Set([...Object.keys(subcommands), 'delete', 'help', 'ls', 'new', 'remove', 'rm', 'show'])

export async function run({ positionals, flags }: Invocation, io: Io): Promise<number> {
  const [name, ...names] = positionals
  if (name === undefined) throw usageError(`Missing subcommand. Usage: ${usage}`)
  const subcommand = Object.hasOwn(subcommands, name) ? subcommands[name] : undefined
  if (subcommand === undefined) throw unknownSubcommand(name, flags)
  for (const flag of ['profile', 'role'] as const)
    if (subcommand !== add && textOf(flags, flag) !== undefined) throw usageError(`--${flag} requires "unfold token add <name>".`)
  return subcommand(names, flags, io)
}

/** Earlier versions created a token with `unfold token <name>`. */
function unknownSubcommand(name: string, flags: Flags): Error {
  const close = nearest(name, ['add', 'list', 'revoke'])
  const profile = textOf(flags, 'profile')
  const create = `unfold token add ${name}${profile === undefined ? '' : ` --profile ${profile}`}`
  const next = close.length > 0 || reserved.has(name) ? '' : ` To create a token of this name: ${create}.`
  return usageError(`"${name}" is not a subcommand of "unfold token".${nearestHint(close)}${next} Usage: ${usage}`, {
    nearest: close,
  })
}

function oneName(names: readonly string[], subcommand: 'add' | 'revoke'): string {
  const [name, ...others] = names
  if (name === undefined || others.length > 0) throw usageError(`Usage: unfold token ${subcommand} <name>`)
  return name
}

/** The token is printed once; the configuration contains only its hash. */
async function add(names: readonly string[], flags: Flags, io: Io): Promise<number> {
  const output = new Output(io, flags)
  const name = oneName(names, 'add')
  if (reserved.has(name)) throw usageError(`"${name}" is a reserved name. Choose another name.`)
  const file = await configToEdit(flags, io)
  const { createToken, hasClientTokens, roles } = await import('@unfold-mcp/gateway/config')
  const access = accessOf(flags, roles)
  const { token, record } = createToken(name, access)
  const edit = (text: string): string => {
    if (namesIn(text).includes(name))
      throw usageError(`${file} already has a token "${name}". Choose another name, or run "unfold token revoke ${name}" first.`)
    return appendJson(['tokens'], record)(text)
  }
  const { read, ...applied } = await editConfig(file, edit, { flags, io, output })
  reportConfig(file, read, output)
  if (!applied.changed) {
    output.result(unchangedText(flags), { name, ...access, ...applied })
    return exit.ok
  }
  const gateways = await reloadGateways(file, io, output)
  const { tokens } = read.config
  const isFirst = access.role === undefined && !hasClientTokens(tokens.filter((each) => each.name !== name))
  if (isFirst) output.note('The gateway now requires a token from every client.')
  output.result(token, { name, token, ...access, ...applied, gateways })
  output.note(`The token is shown only once. ${usageOf(access)}`)
  return exit.ok
}

function accessOf(flags: Flags, roles: readonly Role[]): TokenAccess {
  const profile = textOf(flags, 'profile')
  const text = textOf(flags, 'role')
  if (text === undefined) return profile === undefined ? {} : { profile }
  if (profile !== undefined)
    throw usageError('Use either --profile or --role: a token with a role is not for MCP clients. Create two tokens.')
  const role = roles.find((each) => each === text)
  if (role !== undefined) return { role }
  throw usageError(`Unknown role "${text}".${nearestHint(nearest(text, roles))} Roles: ${roles.join(', ')}.`, { known: roles })
}

function usageOf({ role }: TokenAccess): string {
  if (role === undefined) return 'Use it with: unfold connect <client> --token <token>'
  const where = role === 'metrics' ? 'GET /metrics' : '/metrics and the admin API'
  return `Send it to ${where} as Authorization: Bearer <token>`
}

async function list(names: readonly string[], flags: Flags, io: Io): Promise<number> {
  const output = new Output(io, flags)
  if (names.length > 0) throw usageError('"unfold token list" takes no name.')
  const file = await requireConfig(textOf(flags, 'config'), io)
  const { readConfig } = await import('@unfold-mcp/gateway/config')
  const { tokens } = (await readConfig(file, io.env)).config
  const rows = tokens.map(({ name, profile, role }) => [
    safeText(name),
    role === undefined ? (profile === undefined ? 'everything' : `profile ${safeText(profile)}`) : `role ${role}`,
  ])
  const none = 'No tokens: any program on this machine can connect to the gateway. Create one: unfold token add <name>'
  output.result(rows.length === 0 ? none : tableLines(rows, { width: output.width }).join('\n'), {
    file,
    tokens: tokens.map(({ name, profile, role }) => ({
      name,
      ...(profile !== undefined && { profile }),
      ...(role !== undefined && { role }),
    })),
  })
  return exit.ok
}

async function revoke(names: readonly string[], flags: Flags, io: Io): Promise<number> {
  const output = new Output(io, flags)
  const name = oneName(names, 'revoke')
  const file = await requireConfig(textOf(flags, 'config'), io)
  let isLast = false
  let isConfirmed = false
  const edit = (text: string): string => {
    const known = namesIn(text)
    const at = known.indexOf(name)
    if (at === -1) throw usageError(`Unknown token "${name}" in ${file}.${nearestHint(nearest(name, known))}`, { known })
    const clients = clientNamesIn(text)
    const wasLast = isLast
    isLast = clients.length === 1 && clients[0] === name
    if (isConfirmed && isLast && !wasLast)
      throw new EditError('Another command revoked the other tokens meanwhile, and this is now the last one. Revoke it again.')
    return removeItemJson(['tokens'], at)(text)
  }
  const open = 'This is the last client token. Without one, any program on this machine can connect to the gateway.'
  const { read, ...applied } = await editConfig(file, edit, {
    flags,
    io,
    output,
    question: () => {
      isConfirmed = true
      return isLast ? `${open} Revoke it?` : undefined
    },
  })
  reportConfig(file, read, output)
  const gateways = applied.changed ? await reloadGateways(file, io, output) : []
  if (applied.changed && isLast) output.warn(open)
  output.result(applied.changed ? `Revoked ${safeText(name)}` : unchangedText(flags), {
    name,
    ...applied,
    gateways,
  })
  return exit.ok
}

function namesIn(text: string): readonly string[] {
  const tokens = jsonAt(text, ['tokens'])
  return Array.isArray(tokens) ? tokens.map(nameOf) : []
}

/** Names of the tokens for MCP clients, which have no role. */
function clientNamesIn(text: string): readonly string[] {
  const tokens = jsonAt(text, ['tokens'])
  const isForClients = (token: unknown): boolean => !(typeof token === 'object' && token !== null && 'role' in token)
  return Array.isArray(tokens) ? tokens.filter(isForClients).map(nameOf) : []
}

const nameOf = (token: unknown): string =>
  typeof token === 'object' && token !== null && 'name' in token && typeof token.name === 'string' ? token.name : ''
