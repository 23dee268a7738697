import { appendJson, jsonAt } from '../edit/json.ts'
import { exit, usageError } from '../exit.ts'
import { configToEdit, editConfig, tellConfig } from '../gateway/config-edit.ts'
import { type Invocation, isSet, textOf } from '../grammar.ts'
import type { Io } from '../io.ts'
import { Output } from '../output.ts'
import { safeText } from '../text/safe.ts'

/** Makes a token that a client shows to the gateway. It is shown once: the configuration keeps nothing that would open anything. */
export async function run({ words, flags }: Invocation, io: Io): Promise<number> {
  const output = new Output(io, flags)
  const [name, ...others] = words[0] === 'create' ? words.slice(1) : words
  if (name === undefined || others.length > 0) throw usageError('Whom is it for? unfold token <name> [--profile <name>]')
  const file = await configToEdit(flags, io)
  const profile = textOf(flags, 'profile')
  const { createToken } = await import('@unfold-mcp/gateway/config')
  const { token, record } = createToken(name, profile)
  const edit = (text: string): string => {
    const tokens = jsonAt(text, ['tokens'])
    const isTaken = Array.isArray(tokens) && tokens.some((each: unknown) => isNamed(each, name))
    if (isTaken) throw usageError(`${file} has a token "${name}" already. Choose another name, or remove that one from "tokens".`)
    return appendJson(['tokens'], record)(text)
  }
  const { read, ...applied } = await editConfig(file, edit, { flags, io, output })
  tellConfig(file, read, output)
  if (isSet(flags, 'dry-run')) return exit.ok
  if (read.config.tokens.length === 1)
    output.note('From now on the gateway answers nobody without a token. One that runs takes this over by itself.')
  output.answer(token, { name, token, ...(profile !== undefined && { profile }), ...applied })
  output.note(`This is shown once. For ${safeText(name)}: unfold connect <client> --token <token>`)
  return exit.ok
}

const isNamed = (value: unknown, name: string): boolean =>
  typeof value === 'object' && value !== null && 'name' in value && value.name === name
