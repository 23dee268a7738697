import { realpath } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { planEdit } from '../edit/file.ts'
import { CommandError, exit, usageError } from '../exit.ts'
import { applyEdit, planned } from '../gateway/apply.ts'
import { type Client, clientNamed, type Way } from '../gateway/clients.ts'
import { foundConfig, requiredConfig } from '../gateway/config-file.ts'
import { meantGateways } from '../gateway/running.ts'
import { servedTwice } from '../gateway/twice.ts'
import { type Invocation, isSet, textOf } from '../grammar.ts'
import type { Io } from '../io.ts'
import { Output } from '../output.ts'
import { safeText } from '../text/safe.ts'

/** Tells a client of the gateway: one entry in its own file. */
export async function run({ words, flags }: Invocation, io: Io): Promise<number> {
  const output = new Output(io, flags)
  if (words.length > 1) throw usageError('One client at a time: unfold connect <client>')
  const client = clientNamed(words[0], io)
  const { way, config } = await wayFor(client, flags, io, output)
  const plan = await planned(planEdit(client.file, client.set(way)))
  const before = plan.before === undefined ? undefined : client.entry(plan.before)
  const isSame = isDeepStrictEqual(before, client.entry(plan.after))
  const applied = isSame
    ? { file: plan.file, changed: false }
    : await applyEdit(plan, { flags, io, output, question: `Connect ${client.title} to the gateway?` })
  const done = applied.changed ? `${client.title} is connected to the gateway. ${client.next}` : 'Nothing was written.'
  const twice = config === undefined ? [] : await servedTwice(client, config, io)
  output.answer(isSame ? `${client.title} is connected to the gateway already.` : done, {
    client: client.name,
    ...('url' in way ? { url: way.url } : way),
    ...applied,
    twice,
  })
  if (twice.length > 0)
    output.note(
      `${client.title} has ${twice.map((name) => safeText(name)).join(', ')} of its own as well, and sees those tools twice. Take them out of ${safeText(client.file)}.`,
    )
  return exit.ok
}

interface Meant {
  readonly way: Way
  /** The configuration of the gateway, where it is known. */
  readonly config: string | undefined
}

async function wayFor(client: Client, flags: Invocation['flags'], io: Io, output: Output): Promise<Meant> {
  const profile = textOf(flags, 'profile')
  const token = textOf(flags, 'token')
  if (isSet(flags, 'stdio') || !client.takesAddress) {
    if (token !== undefined || flags.url !== undefined)
      throw usageError(`${client.title} is to start its gateway itself, which needs neither --token nor --url.`)
    const file = await requiredConfig(textOf(flags, 'config'), io)
    if (!isSet(flags, 'stdio')) output.note(`${client.title} takes no address, so it starts a gateway of its own from ${file}.`)
    await checkProfile(profile, file, io)
    const args = ['serve', file, '--stdio', ...(profile === undefined ? [] : ['--profile', profile])]
    return { way: { command: process.execPath, args: [await ownProgram(), ...args] }, config: file }
  }
  const { address, wantsToken, config } = await addressOf(flags, io)
  if (config !== undefined) await checkProfile(profile, config, io)
  if (wantsToken && token === undefined)
    output.warn('The gateway asks for a token. Make one with unfold token <name>, and connect with --token.')
  const url = profile === undefined ? address : `${address.replace(/\/$/u, '')}/${encodeURIComponent(profile)}`
  return { way: { url, headers: token === undefined ? {} : { Authorization: `Bearer ${token}` } }, config }
}

async function checkProfile(profile: string | undefined, file: string, io: Io): Promise<void> {
  if (profile === undefined) return
  const { readConfig } = await import('@unfold-mcp/gateway/config')
  const names = Object.keys((await readConfig(file, io.env)).config.profiles)
  if (names.includes(profile)) return
  const there = names.length === 0 ? ' It has none.' : ` There are ${names.join(', ')}.`
  throw usageError(`${file} has no profile "${profile}".${there}`, { known: names })
}

/** Programs that start without a shell do not know where ours is. */
async function ownProgram(): Promise<string> {
  const program = process.argv[1]
  if (program === undefined) throw new CommandError(exit.failed, 'no_program', 'This program does not know where it is.')
  return realpath(program)
}

/** Where the gateway is: as it was said, where one runs, or where one will run. */
async function addressOf(
  flags: Invocation['flags'],
  io: Io,
): Promise<{ readonly address: string; readonly wantsToken: boolean; readonly config: string | undefined }> {
  const told = textOf(flags, 'url')
  if (told !== undefined) {
    if (!URL.canParse(told) || !/^https?:/u.test(told))
      throw usageError(`--url wants an address such as http://127.0.0.1:7420/mcp, not "${told}".`)
    return { address: told, wantsToken: false, config: undefined }
  }
  const [running, ...others] = (await meantGateways(flags, io)).filter(({ transport }) => transport === 'http')
  if (others.length > 0)
    throw new CommandError(exit.usage, 'ambiguous_gateway', 'Several gateways of yours run. Say which with --config or --url.')
  const file = running?.config ?? (await foundConfig(textOf(flags, 'config'), io))
  if (file === undefined) return { address: 'http://127.0.0.1:7420/mcp', wantsToken: false, config: file }
  const { localUrl, readConfig } = await import('@unfold-mcp/gateway/config')
  const { listen, tokens } = (await readConfig(file, io.env)).config
  const host = listen.host.includes(':') ? `[${listen.host}]` : listen.host
  const address = running?.url ?? localUrl(`http://${host}:${listen.port}/mcp`)
  return { address, wantsToken: tokens.length > 0, config: file }
}
