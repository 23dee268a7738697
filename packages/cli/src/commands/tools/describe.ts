import { helpText } from '../../arguments/help.ts'
import { exit, usageError } from '../../base/exit.ts'
import type { Io } from '../../base/io.ts'
import type { Invocation } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'
import { callCommand, commandTail, openServer } from '../../servers/servers.ts'
import { safeText } from '../../text/safe.ts'

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const output = new Output(io, invocation.flags)
  const { connection, label, positionals } = await openServer(invocation, io, output)
  await using _ = connection
  const [name] = positionals
  if (name === undefined) throw usageError('Missing tool. Usage: unfold describe <server> <tool>')
  const description = await connection.describe(name)
  const { group, tags, version, tokens, facet, listed } = description
  const facts = [
    `${facet}, ~${tokens} tokens`,
    ...(group === undefined ? [] : [`group ${safeText(group)}`]),
    ...(version === undefined ? [] : [`version ${safeText(version)}`]),
    ...(tags === undefined ? [] : [`tags ${tags.map((tag) => safeText(tag)).join(', ')}`]),
    ...(listed ? [] : ['not listed']),
  ]
  const help = helpText(description.tool, {
    width: output.width,
    style: output.style,
    command: callCommand(invocation, label, io),
    after: commandTail(invocation),
  })
  output.result(`${help}\n\n${facts.join(' · ')}`, { server: label, ...description })
  return exit.ok
}
