import { planEdit } from '../edit/file.ts'
import { exit, usageError } from '../exit.ts'
import { applyEdit, planned } from '../gateway/apply.ts'
import { clientNamed } from '../gateway/clients.ts'
import { secretsIn } from '../gateway/secrets.ts'
import type { Invocation } from '../grammar.ts'
import type { Io } from '../io.ts'
import { Output } from '../output.ts'

/** Makes a client forget the gateway: the one entry that connecting made, and nothing else. */
export async function run({ words, flags }: Invocation, io: Io): Promise<number> {
  const output = new Output(io, flags)
  if (words.length > 1) throw usageError('One client at a time: unfold disconnect <client>')
  const client = clientNamed(words[0], io)
  const { name, title, file, remove, next } = client
  const plan = await planned(planEdit(file, (text) => (text === '' ? text : remove(text))))
  const secrets = secretsIn(plan.before === undefined || plan.before === '' ? undefined : client.entry(plan.before))
  const applied = await applyEdit(plan, { flags, io, output, secrets, question: `Make ${title} forget the gateway?` })
  output.answer(plan.isChange ? `${title} forgets the gateway. ${next}` : `${title} does not know the gateway.`, {
    client: name,
    ...applied,
  })
  return exit.ok
}
