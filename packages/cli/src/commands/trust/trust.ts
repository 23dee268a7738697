import { readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { TrustRecords, TrustStore } from '@unfold-mcp/gateway/trust'
import { errorMessage } from '../../base/error-message.ts'
import { CommandError, exit, usageError } from '../../base/exit.ts'
import { dataFolder, type Io } from '../../base/io.ts'
import { requireConfig } from '../../gateway/config-file.ts'
import { type Flags, type Invocation, textOf } from '../../grammar/grammar.ts'
import { subcommandOf } from '../../grammar/subcommand.ts'
import { Output } from '../../output/output.ts'
import { requirePerson, reviewerToken } from '../../review/reviewer.ts'
import { plural } from '../../text/number.ts'
import { safeText } from '../../text/safe.ts'

type Subcommand = (file: string | undefined, flags: Flags, io: Io) => Promise<number>

const subcommands: { readonly [name: string]: Subcommand } = { export: exportRecords, import: importRecords }
const usage = 'unfold trust export [<file>], unfold trust import <file>'

/** Moves the decisions about servers to another machine. No gateway has to run; a running one follows within a second. */
export async function run({ positionals, flags }: Invocation, io: Io): Promise<number> {
  const [name, file, ...others] = positionals
  const subcommand = subcommandOf('trust', name, { subcommands, usage })
  if (others.length > 0) throw usageError(`Usage: ${usage}`)
  return subcommand(file, flags, io)
}

async function exportRecords(path: string | undefined, flags: Flags, io: Io): Promise<number> {
  const output = new Output(io, flags)
  const { formatRecords } = await import('@unfold-mcp/gateway/trust')
  await using store = await openStore(await requireConfig(textOf(flags, 'config'), io), io)
  const names = await store.servers()
  const records = new Map(await Promise.all(names.map(async (name) => [name, await store.load(name)] as const)))
  const text = formatRecords(records)
  if (path === undefined) {
    io.stdout.write(text)
    return exit.ok
  }
  const file = resolve(io.cwd, path)
  await writeFile(file, text, { mode: 0o600, flag: 'wx' }).catch((error: unknown) => {
    throw new CommandError(exit.failed, 'not_written', `Cannot write ${file}: ${errorMessage(error)}`, { cause: error })
  })
  output.result(`Exported ${plural(names.length, 'server')} to ${safeText(file)}`, { file, servers: countsOf(records) })
  return exit.ok
}

async function importRecords(path: string | undefined, flags: Flags, io: Io): Promise<number> {
  const output = new Output(io, flags)
  if (path === undefined) throw usageError(`Missing file. Usage: ${usage}`)
  const file = resolve(io.cwd, path)
  const config = await requireConfig(textOf(flags, 'config'), io)
  const { mergeRecords } = await import('@unfold-mcp/gateway/trust')
  const records = await readRecords(file)
  await using store = await openStore(config, io)
  const servers = countsOf(records)
  for (const { server, approved, blocked } of servers)
    output.note(`${safeText(server)}: ${approved} approved, ${blocked} blocked`)
  await requireReviewer(config, io)
  await requirePerson(`Import these decisions into ${safeText(config)}? What they approve is served without a review.`, flags, io)
  for (const [server, record] of records) await store.update(server, (own) => mergeRecords(own, record))
  output.result(`Imported ${plural(records.size, 'server')}`, { file, servers })
  return exit.ok
}

async function readRecords(file: string): Promise<TrustRecords> {
  const { parseRecords } = await import('@unfold-mcp/gateway/trust')
  try {
    return parseRecords(await readFile(file, 'utf8'))
  } catch (error) {
    const message = `${file} was not imported: ${errorMessage(error)}.`
    throw new CommandError(exit.failed, 'invalid_file', message, { cause: error })
  }
}

function countsOf(records: TrustRecords) {
  return [...records].map(([server, { accepted, blocked }]) => ({
    server,
    approved: accepted.length,
    blocked: blocked.length,
  }))
}

/** Without a running gateway, the token is compared with those of the configuration. */
async function requireReviewer(config: string, io: Io): Promise<void> {
  const token = reviewerToken(io)
  if (token === undefined) return
  const { roles, verifyToken, writtenConfig } = await import('@unfold-mcp/gateway/config')
  const role = verifyToken(token, (await writtenConfig(config)).tokens)?.role
  if (role !== undefined && roles.indexOf(role) >= roles.indexOf('reviewer')) return
  throw new CommandError(
    exit.blocked,
    'not_a_reviewer',
    `UNFOLD_TOKEN is not a token of ${config} with the role reviewer or higher.`,
  )
}

async function openStore(config: string, io: Io): Promise<TrustStore> {
  const [{ sqliteTrustStore, trustFile, TrustStoreError }, { writtenConfig }] = await Promise.all([
    import('@unfold-mcp/gateway/trust'),
    import('@unfold-mcp/gateway/config'),
  ])
  const { cluster, store } = await writtenConfig(config)
  if (cluster?.url !== undefined || io.env.UNFOLD_CLUSTER_URL !== undefined)
    throw new CommandError(
      exit.failed,
      'no_records',
      `${config} has a cluster, so the decisions are in Redis, which this command does not read. Use "unfold review" with a running replica.`,
    )
  if (store.kind === 'memory')
    throw new CommandError(exit.failed, 'no_records', `${config} has "store": { "kind": "memory" }, so no decisions are stored.`)
  return sqliteTrustStore(trustFile(dataFolder(io), config)).catch((error: unknown) => {
    if (error instanceof TrustStoreError) throw new CommandError(exit.failed, 'store', error.message, { cause: error })
    throw error
  })
}
