import type { SecretStore } from '@unfold-mcp/gateway/secrets'
import { CommandError, exit, usageError } from '../../base/exit.ts'
import { dataFolder, type Io, isInteractive } from '../../base/io.ts'
import { findConfig } from '../../gateway/config-file.ts'
import { type Flags, type Invocation, isSet, textOf } from '../../grammar/grammar.ts'
import { subcommandOf } from '../../grammar/subcommand.ts'
import { passphrasePrompt } from '../../interactive/passphrase.ts'
import { Output } from '../../output/output.ts'
import { safeText } from '../../text/safe.ts'
import { tableLines } from '../../text/table.ts'

type Subcommand = (names: readonly string[], flags: Flags, io: Io) => Promise<number>

const subcommands: { readonly [name: string]: Subcommand } = { set, list, remove }
const usage = 'unfold secret set <name>, unfold secret list, unfold secret remove <name>'

export async function run({ positionals, flags }: Invocation, io: Io): Promise<number> {
  const [name, ...names] = positionals
  const subcommand = subcommandOf('secret', name, { subcommands, usage })
  const { SecretError } = await import('@unfold-mcp/gateway/secrets')
  return subcommand(names, flags, io).catch((error: unknown) => {
    if (error instanceof SecretError) throw new CommandError(exit.failed, 'secret', error.message, { cause: error })
    throw error
  })
}

async function storeFor(flags: Flags, io: Io): Promise<SecretStore> {
  const { passphraseFrom, SecretStore: Store } = await import('@unfold-mcp/gateway/secrets')
  const passphrase = passphraseFrom({ environment: io.env, prompt: passphrasePrompt(flags, io) })
  return new Store(dataFolder(io), { passphrase })
}

/** The value is never an argument: other users can see those, and shells store them. */
async function set(names: readonly string[], flags: Flags, io: Io): Promise<number> {
  const output = new Output(io, flags)
  const [name, ...others] = names
  if (name === undefined || others.length > 0)
    throw usageError(
      'Usage: unfold secret set <name>. The value is read from a prompt or from standard input, never from an argument.',
    )
  const place = textOf(flags, 'store')
  if (place !== undefined && place !== 'keyring' && place !== 'file')
    throw usageError(`--store must be keyring or file, not "${place}".`)
  const store = await storeFor(flags, io)
  const used = await store.set(name, await valueFor(name, flags, io), place)
  const where = used === 'keyring' ? 'the system keyring' : `${store.file}, encrypted`
  const text = `Stored ${safeText(name)} in ${safeText(where)}\nUse it in unfold.json as \${keyring:${name}}; running gateways read it after "unfold reload".`
  output.result(text, { name, store: used })
  return exit.ok
}

const maxBytes = 262_144

async function valueFor(name: string, flags: Flags, io: Io): Promise<string> {
  if (isInteractive(io) && !isSet(flags, 'no-input')) {
    const { askSecret } = await import('../../interactive/secret.ts')
    return askSecret(`Value of ${safeText(name)}`, io)
  }
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of io.stdin) {
    const bytes = Buffer.from(chunk as Uint8Array | string)
    size += bytes.length
    if (size > maxBytes) throw usageError('The value on standard input is too long.')
    chunks.push(bytes)
  }
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/u, '')
}

/** Prints names, places and uses, never values. */
async function list(names: readonly string[], flags: Flags, io: Io): Promise<number> {
  const output = new Output(io, flags)
  if (names.length > 0) throw usageError('"unfold secret list" takes no name.')
  const stored = await (await storeFor(flags, io)).list()
  const file = await findConfig(textOf(flags, 'config'), io)
  const uses = file === undefined ? new Map<string, readonly string[]>() : await usesIn(file, output)
  const known = stored.map(({ name, place }) => ({ name, store: place, uses: uses.get(name) ?? [] }))
  const missing = [...uses].filter(([name]) => !stored.some((each) => each.name === name))
  const rows = [
    ...known.map((each) => [each.name, each.store, each.uses.map((use) => safeText(use)).join(', ') || 'not used']),
    ...missing.map(([name, places]) => [safeText(name), 'missing', places.map((use) => safeText(use)).join(', ')]),
  ]
  const none = 'No secrets. Store one: unfold secret set <name>'
  output.result(rows.length === 0 ? none : tableLines(rows, { width: output.width }).join('\n'), {
    ...(file !== undefined && { file }),
    secrets: known,
    missing: missing.map(([name, places]) => ({ name, uses: places })),
  })
  return exit.ok
}

/** Settings of a configuration that refer to stored secrets, by name of the secret. */
async function usesIn(file: string, output: Output): Promise<ReadonlyMap<string, readonly string[]>> {
  const { secretUses, writtenConfig } = await import('@unfold-mcp/gateway/config')
  const uses = new Map<string, readonly string[]>()
  try {
    for (const { reference, path } of secretUses(await writtenConfig(file)))
      if (reference.kind === 'keyring') uses.set(reference.argument, [...(uses.get(reference.argument) ?? []), path])
  } catch {
    output.warn(`${safeText(file)} is invalid, so uses are not shown. Run "unfold doctor".`)
  }
  return uses
}

async function remove(names: readonly string[], flags: Flags, io: Io): Promise<number> {
  const output = new Output(io, flags)
  const [name, ...others] = names
  if (name === undefined || others.length > 0) throw usageError('Usage: unfold secret remove <name>')
  await (await storeFor(flags, io)).remove(name)
  output.result(`Removed ${safeText(name)}`, { name })
  return exit.ok
}
