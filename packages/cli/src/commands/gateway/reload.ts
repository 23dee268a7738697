import { CommandError, exit } from '../../base/exit.ts'
import type { Io } from '../../base/io.ts'
import { reload } from '../../gateway/reload.ts'
import { requireGateway } from '../../gateway/running.ts'
import { approveNewCommands } from '../../gateway/secret-commands.ts'
import type { Invocation } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'

export async function run({ flags }: Invocation, io: Io): Promise<number> {
  const output = new Output(io, flags)
  const gateway = await requireGateway(flags, io, output)
  await approveNewCommands(gateway.config, { flags, io, output })
  const { isApplied, problems } = await reload(gateway, io.signal)
  if (!isApplied) {
    const lines = problems.map(({ file, line, column, path, message }) => `\n  ${file}:${line}:${column} ${path} ${message}`)
    throw new CommandError(
      exit.usage,
      'invalid_config',
      `Configuration invalid; the previous one stays in use.${lines.join('')}`,
      {
        details: { problems },
      },
    )
  }
  output.result(`Reloaded ${gateway.config}`, { config: gateway.config, pid: gateway.pid, isApplied })
  return exit.ok
}
