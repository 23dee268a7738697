import { planEdit } from '../edit/file.ts'
import { exit, usageError } from '../exit.ts'
import { applyEdit, planned } from '../gateway/apply.ts'
import { clientNamed } from '../gateway/clients.ts'
import type { Invocation } from '../grammar.ts'
import type { Io } from '../io.ts'
import { Output } from '../output.ts'

/** Makes a client forget the gateway: the one entry that connecting made, and nothing else. */
export async function run({ words, flags }: Invocation, io: Io): Promise<number> {
  const output = new Output(io, flags)
  if (words.length > 1) throw usageError('One client at a time: unfold disconnect <client>')
  const client = clientNamed(words[0], io)
  const { name, title, file, remove } = client
  const plan = await planned(planEdit(file, (text) => (text === '' ? text : remove(text))))
  const applied = await applyEdit(plan, { flags, io, output, question: `Take the gateway out of ${title}?` })
  const done = applied.changed ? `${title} does not use the gateway any more, once it is restarted.` : 'Nothing was written.'
  output.answer(plan.isChange ? done : `${title} does not use the gateway.`, { client: name, ...applied })
  return exit.ok
}
