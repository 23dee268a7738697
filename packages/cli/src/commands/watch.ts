import { exit } from '../exit.ts'
import { type Invocation, numberOf } from '../grammar.ts'
import type { Io } from '../io.ts'
import { Output } from '../output.ts'
import { openServer } from '../servers.ts'
import { safeText } from '../text/safe.ts'

/** Changes of a server's tools, as they happen. */
export async function run(invocation: Invocation, io: Io): Promise<number> {
  const { flags } = invocation
  const output = new Output(io, flags)
  const { connection, label } = await openServer(invocation, io, output)
  await using _ = connection
  const tools = await connection.tools()
  await using changes = connection.changes({ signal: io.signal })
  await changes.ready
  output.note(`${tools.length} tools of ${safeText(label)}. Waiting for changes; stop with Ctrl-C.`)
  let left = numberOf(flags, 'count') ?? Number.POSITIVE_INFINITY
  if (left === 0) return exit.ok
  try {
    for await (const { added, removed, changed, tools: now, identity } of changes) {
      const at = new Date().toISOString()
      const names = (all: readonly { readonly name: string }[]): readonly string[] => all.map(({ name }) => name)
      const lines = [
        ...names(added).map((name) => `+ ${safeText(name)}`),
        ...names(removed).map((name) => `- ${safeText(name)}`),
        ...names(changed.map(({ after }) => after)).map((name) => `~ ${safeText(name)}`),
      ]
      output.item(`${at}  ${now.length} tools\n${lines.map((line) => `  ${line}`).join('\n')}`, {
        at,
        added: names(added),
        removed: names(removed),
        changed: names(changed.map(({ after }) => after)),
        tools_count: now.length,
        ...(identity !== undefined && { identity }),
      })
      left -= 1
      if (left <= 0) return exit.ok
    }
  } catch (error) {
    if (!io.signal.aborted) throw error
  }
  // Whoever watches ends it by interrupting; that is how it is meant.
  return io.signal.aborted ? exit.interrupted : exit.ok
}
