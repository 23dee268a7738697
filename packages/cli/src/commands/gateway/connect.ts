import { isDeepStrictEqual } from 'node:util'
import { planEdit } from '@unfold-mcp/client/edit'
import { exit, usageError } from '../../base/exit.ts'
import type { Io } from '../../base/io.ts'
import { clientToken } from '../../clients/client-token.ts'
import { type Client, clientNamed, type EntryTarget, isPasted, type PastedClient } from '../../clients/clients.ts'
import { duplicateServers } from '../../clients/duplicates.ts'
import { type ExposureChoice, loadingFor } from '../../clients/exposure.ts'
import { resolveGateway, startsCommand, stdioCommand } from '../../clients/gateway-target.ts'
import { type Verification, verificationData, verificationText, verifyEntry, verifyTarget } from '../../clients/verification.ts'
import { applyEdit, unchangedText, withEditErrors } from '../../gateway/apply.ts'
import { type Flags, type Invocation, isSet } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'
import { safeText } from '../../text/safe.ts'

export async function run({ positionals, flags }: Invocation, io: Io): Promise<number> {
  const output = new Output(io, flags)
  if (positionals.length > 1) throw usageError('Connect one client at a time: unfold connect <client>')
  const client = clientNamed(positionals[0], io)
  return isPasted(client) ? paste(client, flags, io, output) : connect(client, flags, io, output)
}

async function connect(client: Client, flags: Flags, io: Io, output: Output): Promise<number> {
  const { target, config, exposure } = await wayFor(client, flags, io)
  output.note(exposureLine(exposure))
  const plan = await withEditErrors(planEdit(client.file, client.set(target, loadingFor(exposure.exposure))))
  const before = plan.before === undefined ? undefined : client.entry(plan.before)
  const isSame = isDeepStrictEqual(before, client.entry(plan.after))
  const applied = isSame
    ? { file: plan.file, changed: false }
    : await applyEdit(plan, { flags, io, output, question: `Connect ${client.title} to the gateway?` })
  const isWritten = isSame || applied.changed
  const verification = isWritten && !isSet(flags, 'no-verify') ? await verifyEntry(client, io) : skipped
  const duplicates = config === undefined ? [] : await duplicateServers(client, config, io)
  output.result(lines(summary(client, { isSame, ...applied, flags }, verification), verificationText(verification)), {
    client: client.name,
    host: client.host,
    exposure: exposure.exposure,
    ...('url' in target ? { url: target.url } : target),
    ...applied,
    verification: verificationData(verification),
    duplicates,
  })
  if (duplicates.length > 0) {
    const names = duplicates.map((name) => safeText(name)).join(', ')
    output.note(
      `${client.title} also has ${names} in its own configuration, so its model sees those tools twice. Remove them from ${safeText(client.file)}.`,
    )
  }
  return exitCode(verification)
}

function summary(
  { title, file, next }: Client,
  { isSame, changed, flags }: { readonly isSame: boolean; readonly changed: boolean; readonly flags: Flags },
  { status }: Verification,
): string {
  if (!isSame && !changed) return unchangedText(flags)
  if (status === 'failed') return `The entry is in ${safeText(file)}, but ${title} cannot connect with it.`
  return isSame ? `${title} is already connected to the gateway.` : `Connected ${title} to the gateway. ${next}`
}

async function paste(client: PastedClient, flags: Flags, io: Io, output: Output): Promise<number> {
  if (flags.stdio !== undefined) throw usageError(`${client.title} connects to an address. Leave out --stdio.`)
  const gateway = await resolveGateway(client, flags, io)
  const { address: url, exposure } = gateway
  const token = await clientToken(gateway, { flags, io, present: undefined })
  // The token itself is never printed.
  const text = client.text(url, token === undefined ? undefined : '<token>')
  const headers = token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } }
  const verification = isSet(flags, 'no-verify') ? skipped : await verifyTarget({ url, ...headers }, io)
  output.note(exposureLine(exposure))
  output.note(`Unfold cannot edit the configuration of ${client.title}. ${client.where}:`)
  output.result(text, {
    client: client.name,
    host: client.host,
    exposure: exposure.exposure,
    url,
    changed: false,
    paste: text,
    verification: verificationData(verification),
  })
  if (token !== undefined) output.note('Replace <token> with the token.')
  if (verification.status !== 'skipped') output.note(verificationText(verification))
  return exitCode(verification)
}

const skipped: Verification = { status: 'skipped' }

const exitCode = (verification: Verification): number => (verification.status === 'failed' ? verification.error.code : exit.ok)

const lines = (...texts: readonly string[]): string => texts.filter((text) => text !== '').join('\n')

const exposureLine = ({ exposure, why }: ExposureChoice): string => `Exposure: ${exposure}. ${safeText(why)}`

interface Meant {
  readonly target: EntryTarget
  readonly config: string | undefined
  readonly exposure: ExposureChoice
}

async function wayFor(client: Client, flags: Flags, io: Io): Promise<Meant> {
  if (startsCommand(client, flags)) {
    if (flags.token !== undefined || flags.url !== undefined)
      throw usageError(`${client.title} starts "unfold serve --stdio", which takes neither --token nor --url.`)
    const { config, exposure, ...target } = await stdioCommand(client, flags, io)
    return { target, config, exposure }
  }
  const gateway = await resolveGateway(client, flags, io)
  const token = await clientToken(gateway, { flags, io, present: await presentEntry(client) })
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` }
  return { target: { url: gateway.address, headers }, config: gateway.config, exposure: gateway.exposure }
}

async function presentEntry(client: Client): Promise<unknown> {
  let present: unknown
  await withEditErrors(
    planEdit(client.file, (text) => {
      present = text.trim() === '' ? undefined : client.entry(text)
      return text
    }),
  )
  return present
}
