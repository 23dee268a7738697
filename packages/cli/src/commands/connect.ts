import { isDeepStrictEqual } from 'node:util'
import { planEdit } from '../edit/file.ts'
import { exit, usageError } from '../exit.ts'
import { applyEdit, planned } from '../gateway/apply.ts'
import { type Client, clientNamed, isPasted, type PastedClient, type Way } from '../gateway/clients.ts'
import { meantCommand, meantGateway, startsCommand } from '../gateway/connecting.ts'
import { type ChosenExposure, loadingFor } from '../gateway/exposure.ts'
import { servedTwice } from '../gateway/twice.ts'
import { type Flags, type Invocation, textOf } from '../grammar.ts'
import type { Io } from '../io.ts'
import { Output } from '../output.ts'
import { safeText } from '../text/safe.ts'

/** Connects a client to the gateway: one entry in the client's own configuration. */
export async function run({ words, flags }: Invocation, io: Io): Promise<number> {
  const output = new Output(io, flags)
  if (words.length > 1) throw usageError('Connect one client at a time: unfold connect <client>')
  const client = clientNamed(words[0], io)
  return isPasted(client) ? paste(client, flags, io, output) : connect(client, flags, io, output)
}

async function connect(client: Client, flags: Flags, io: Io, output: Output): Promise<number> {
  const { way, config, exposure } = await wayFor(client, flags, io, output)
  output.note(exposureLine(exposure))
  const plan = await planned(planEdit(client.file, client.set(way, loadingFor(exposure.exposure))))
  const before = plan.before === undefined ? undefined : client.entry(plan.before)
  const isSame = isDeepStrictEqual(before, client.entry(plan.after))
  const applied = isSame
    ? { file: plan.file, changed: false }
    : await applyEdit(plan, { flags, io, output, question: `Connect ${client.title} to the gateway?` })
  const twice = config === undefined ? [] : await servedTwice(client, config, io)
  const done = applied.changed ? `Connected ${client.title} to the gateway. ${client.next}` : 'Nothing was written.'
  output.answer(isSame ? `${client.title} is already connected to the gateway.` : done, {
    client: client.name,
    host: client.host,
    exposure: exposure.exposure,
    ...('url' in way ? { url: way.url } : way),
    ...applied,
    twice,
  })
  if (twice.length > 0) {
    const names = twice.map((name) => safeText(name)).join(', ')
    output.note(
      `${client.title} also has ${names} in its own configuration, so its model sees those tools twice. Remove them from ${safeText(client.file)}.`,
    )
  }
  return exit.ok
}

/** For a client whose configuration only its user can edit. */
async function paste(client: PastedClient, flags: Flags, io: Io, output: Output): Promise<number> {
  if (flags.stdio !== undefined) throw usageError(`${client.title} connects to an address. Leave out --stdio.`)
  const { address, wantsToken, exposure } = await meantGateway(client, flags, io)
  // Whoever has a token pastes it as well; it is printed nowhere.
  const needsToken = wantsToken || flags.token !== undefined
  const text = client.text(address, needsToken ? '<token>' : undefined)
  output.note(exposureLine(exposure))
  output.note(`${client.title} keeps its servers where only its user can add one. ${client.where}:`)
  output.answer(text, {
    client: client.name,
    host: client.host,
    exposure: exposure.exposure,
    url: address,
    changed: false,
    paste: text,
  })
  if (needsToken) output.note('Replace <token> with a token of the gateway. Create one with: unfold token add <name>')
  return exit.ok
}

const exposureLine = ({ exposure, why }: ChosenExposure): string => `Exposure: ${exposure}. ${safeText(why)}`

interface Meant {
  readonly way: Way
  /** The configuration of the gateway, where it is known. */
  readonly config: string | undefined
  readonly exposure: ChosenExposure
}

async function wayFor(client: Client, flags: Flags, io: Io, output: Output): Promise<Meant> {
  const token = textOf(flags, 'token')
  if (startsCommand(client, flags)) {
    if (token !== undefined || flags.url !== undefined)
      throw usageError(`${client.title} starts "unfold serve --stdio", which takes neither --token nor --url.`)
    const { command, args, config, exposure } = await meantCommand(client, flags, io)
    return { way: { command, args }, config, exposure }
  }
  const { address, wantsToken, config, exposure } = await meantGateway(client, flags, io)
  if (wantsToken && token === undefined)
    output.warn('The gateway requires a token. Create one with "unfold token add <name>", and connect with --token.')
  return { way: { url: address, headers: token === undefined ? {} : { Authorization: `Bearer ${token}` } }, config, exposure }
}
