import { planEdit } from '@unfold-mcp/client/edit'
import { exit, usageError } from '../../base/exit.ts'
import type { Io } from '../../base/io.ts'
import { clientNamed, isPasted } from '../../clients/clients.ts'
import { applyEdit, unchangedText, withEditErrors } from '../../gateway/apply.ts'
import type { Invocation } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'

export async function run({ positionals, flags }: Invocation, io: Io): Promise<number> {
  const output = new Output(io, flags)
  if (positionals.length > 1) throw usageError('Disconnect one client at a time: unfold disconnect <client>')
  const client = clientNamed(positionals[0], io)
  if (isPasted(client)) {
    output.result(`${client.gone}.`, { client: client.name, changed: false })
    return exit.ok
  }
  const { name, title, file, remove } = client
  const plan = await withEditErrors(planEdit(file, (text) => (text === '' ? text : remove(text))))
  const applied = await applyEdit(plan, { flags, io, output, question: `Disconnect ${title} from the gateway?` })
  const done = applied.changed ? `Disconnected ${title} from the gateway. Restart it.` : unchangedText(flags)
  output.result(plan.isChanged ? done : `${title} is not connected to the gateway.`, { client: name, ...applied })
  return exit.ok
}
