import { realpath } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { planEdit } from '../edit/file.ts'
import { CommandError, exit, usageError } from '../exit.ts'
import { applyEdit, planned } from '../gateway/apply.ts'
import { type Client, clientNamed, type Way } from '../gateway/clients.ts'
import { foundConfig, requiredConfig } from '../gateway/config-file.ts'
import { meantGateways } from '../gateway/running.ts'
import { secretsIn } from '../gateway/secrets.ts'
import { type Invocation, isSet, textOf } from '../grammar.ts'
import type { Io } from '../io.ts'
import { Output } from '../output.ts'

/** Tells a client of the gateway: one entry in its own file. */
export async function run({ words, flags }: Invocation, io: Io): Promise<number> {
  const output = new Output(io, flags)
  if (words.length > 1) throw usageError('One client at a time: unfold connect <client>')
  const client = clientNamed(words[0], io)
  const way = await wayFor(client, flags, io, output)
  const plan = await planned(planEdit(client.file, client.set(way)))
  const before = plan.before === undefined ? undefined : client.entry(plan.before)
  const isSame = isDeepStrictEqual(before, client.entry(plan.after))
  const secrets = [...secretsIn(before), ...secretsIn(client.entry(plan.after))]
  const applied = isSame
    ? { file: plan.file, changed: false }
    : await applyEdit(plan, { flags, io, output, secrets, question: `Tell ${client.title} of the gateway?` })
  const text = isSame
    ? `${client.title} knows the gateway already.`
    : `${client.title} knows the gateway${applied.changed ? '' : ' then'}. ${client.next}`
  output.answer(text, { client: client.name, ...('url' in way ? { url: way.url } : way), ...applied })
  return exit.ok
}

async function wayFor(client: Client, flags: Invocation['flags'], io: Io, output: Output): Promise<Way> {
  const profile = textOf(flags, 'profile')
  const token = textOf(flags, 'token')
  if (isSet(flags, 'stdio') || !client.takesAddress) {
    if (token !== undefined || flags.url !== undefined)
      throw usageError(`${client.title} is to start its gateway itself, which needs neither --token nor --url.`)
    const file = await requiredConfig(textOf(flags, 'config'), io)
    if (!isSet(flags, 'stdio')) output.note(`${client.title} takes no address, so it starts a gateway of its own from ${file}.`)
    const args = ['serve', file, '--stdio', ...(profile === undefined ? [] : ['--profile', profile])]
    return { command: process.execPath, args: [await ownProgram(), ...args] }
  }
  const { address, wantsToken } = await addressOf(flags, io)
  if (wantsToken && token === undefined)
    output.warn('The gateway asks for a token. Make one with unfold token <name>, and connect with --token.')
  const url = profile === undefined ? address : `${address.replace(/\/$/u, '')}/${encodeURIComponent(profile)}`
  return { url, headers: token === undefined ? {} : { Authorization: `Bearer ${token}` } }
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
): Promise<{ readonly address: string; readonly wantsToken: boolean }> {
  const told = textOf(flags, 'url')
  if (told !== undefined) {
    if (!URL.canParse(told) || !/^https?:/u.test(told))
      throw usageError(`--url wants an address such as http://127.0.0.1:7420/mcp, not "${told}".`)
    return { address: told, wantsToken: false }
  }
  const [running, ...others] = await meantGateways(flags, io)
  if (others.length > 0)
    throw new CommandError(exit.usage, 'ambiguous_gateway', 'Several gateways of yours run. Say which with --config or --url.')
  const file = running?.config ?? (await foundConfig(textOf(flags, 'config'), io))
  if (file === undefined) return { address: 'http://127.0.0.1:7420/mcp', wantsToken: false }
  const { readConfig } = await import('@unfold-mcp/gateway/config')
  const { listen, tokens } = (await readConfig(file, io.env)).config
  const host = listen.host.includes(':') ? `[${listen.host}]` : listen.host
  return { address: running?.url ?? `http://${host}:${listen.port}/mcp`, wantsToken: tokens.length > 0 }
}
