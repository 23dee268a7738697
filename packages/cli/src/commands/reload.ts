import { CommandError, exit } from '../exit.ts'
import { askGateway, oneGateway } from '../gateway/running.ts'
import type { Invocation } from '../grammar.ts'
import type { Io } from '../io.ts'
import { Output } from '../output.ts'

interface Reloaded {
  readonly isUsed: boolean
  readonly problems: readonly {
    readonly file: string
    readonly line: number
    readonly column: number
    readonly path: string
    readonly message: string
  }[]
}

/** Makes the running gateway read its configuration now. */
export async function run({ flags }: Invocation, io: Io): Promise<number> {
  const output = new Output(io, flags)
  const gateway = await oneGateway(flags, io, output)
  const response = await askGateway(gateway, 'reload', { method: 'POST', signal: io.signal })
  const { isUsed, problems } = (await response.json()) as Reloaded
  if (!isUsed) {
    const lines = problems.map(({ file, line, column, path, message }) => `\n  ${file}:${line}:${column} ${path} ${message}`)
    throw new CommandError(exit.usage, 'invalid_config', `It cannot be used; what was running goes on.${lines.join('')}`, {
      details: { problems },
    })
  }
  output.answer(`${gateway.config} is in use.`, { config: gateway.config, pid: gateway.pid, isUsed })
  return exit.ok
}
