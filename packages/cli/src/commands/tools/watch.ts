import type { Changes, Connection } from '@unfold-mcp/client'
import { exit } from '../../base/exit.ts'
import type { Io } from '../../base/io.ts'
import { type Flags, type Invocation, numberOf } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'
import { catalogChanges, fullListTarget, type ToolChange } from '../../servers/full-catalog.ts'
import { connectTo, openServer, type ResolvedServer } from '../../servers/servers.ts'
import { plural } from '../../text/number.ts'
import { safeText } from '../../text/safe.ts'

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const { flags } = invocation
  const output = new Output(io, flags)
  const server = await openServer(invocation, io, output)
  await using connection = server.connection
  await using watched = await watchAll(connection, server, flags, io, output)
  const changes = watched.changes()
  await changes.ready
  const unlisted = watched.count - watched.listed
  output.note(
    `Watching ${plural(watched.count, 'tool')} of ${safeText(server.label)}${unlisted > 0 ? ` (${unlisted} not listed)` : ''}. Press Ctrl-C to stop.`,
  )
  let left = numberOf(flags, 'count') ?? Number.POSITIVE_INFINITY
  if (left === 0) return exit.ok
  try {
    for await (const change of changes.all) {
      print(change, output)
      left -= 1
      if (left <= 0) return exit.ok
    }
  } catch (error) {
    if (!io.signal.aborted) throw error
  }
  return io.signal.aborted ? exit.interrupted : exit.ok
}

interface Watched extends AsyncDisposable {
  readonly count: number
  /** Number of tools listed to this client. */
  readonly listed: number
  changes(): { readonly ready: Promise<void>; readonly all: AsyncIterable<ToolChange> }
}

/** Watches all tools, including unlisted ones if the server supports it. */
async function watchAll(connection: Connection, server: ResolvedServer, flags: Flags, io: Io, output: Output): Promise<Watched> {
  const { signal } = io
  const listed = (await connection.tools()).length
  const outline = await connection.outline()
  const fullTarget = outline === undefined ? undefined : fullListTarget(server.target)
  if (outline !== undefined && fullTarget === undefined && !('url' in server.target))
    return {
      count: outline.tools.length,
      listed,
      changes: () => ({ ready: Promise.resolve(), all: catalogChanges(connection, outline.tools, { signal }) }),
      [Symbol.asyncDispose]: async () => undefined,
    }
  const full = fullTarget === undefined ? connection : await connectTo({ ...server, target: fullTarget }, flags, io, output)
  const count = (await full.tools()).length
  let following: Changes | undefined
  return {
    count,
    listed: Math.min(listed, count),
    changes() {
      following = full.changes({ signal })
      return { ready: following.ready, all: toolChanges(following) }
    },
    async [Symbol.asyncDispose]() {
      await following?.[Symbol.asyncDispose]()
      if (full !== connection) await full[Symbol.asyncDispose]()
    },
  }
}

async function* toolChanges(changes: Changes): AsyncGenerator<ToolChange> {
  const names = (all: readonly { readonly name: string }[]): readonly string[] => all.map(({ name }) => name)
  for await (const { added, removed, changed, tools, identity } of changes)
    yield {
      added: names(added),
      removed: names(removed),
      changed: names(changed.map(({ after }) => after)),
      count: tools.length,
      ...(identity !== undefined && { identity }),
    }
}

function print({ added, removed, changed, count, identity }: ToolChange, output: Output): void {
  const at = new Date().toISOString()
  const marked = (mark: string, names: readonly string[]): readonly string[] => names.map((name) => `  ${mark} ${safeText(name)}`)
  const lines = [...marked('+', added), ...marked('-', removed), ...marked('~', changed)]
  output.item([`${at}  ${plural(count, 'tool')}`, ...lines].join('\n'), {
    at,
    added,
    removed,
    changed,
    tools_count: count,
    ...(identity !== undefined && { identity }),
  })
}
