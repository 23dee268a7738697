import { locatedText } from '@unfold-mcp/core'
import { CommandError, exit } from '../../base/exit.ts'
import type { Io } from '../../base/io.ts'
import { reload } from '../../gateway/reload.ts'
import { requireGateway } from '../../gateway/running.ts'
import type { Flags, Invocation } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'
import { configurationEdits } from '../../review/configuration-edits.ts'
import type { Access } from '../../review/entry.ts'
import { canAsk, reviewerToken } from '../../review/reviewer.ts'
import { plural } from '../../text/number.ts'

export async function run({ flags }: Invocation, io: Io): Promise<number> {
  const output = new Output(io, flags)
  const gateway = await requireGateway(flags, io, output)
  const { isApplied, problems } = await reload(gateway, io.signal)
  if (!isApplied) {
    const lines = problems.map((problem) => `\n  ${problem.file}:${locatedText(problem)}`)
    throw new CommandError(
      exit.usage,
      'invalid_config',
      `Configuration invalid; the previous one stays in use.${lines.join('')}`,
      {
        details: { problems },
      },
    )
  }
  const waiting = await askAboutEdits({ gateway, token: reviewerToken(io), signal: io.signal }, flags, io, output)
  output.result(`Reloaded ${gateway.config}`, { config: gateway.config, pid: gateway.pid, isApplied, waiting })
  return exit.ok
}

/** On a terminal, asks whether to apply edits that wait for approval. Returns the paths of those that still wait. */
async function askAboutEdits(access: Access, flags: Flags, io: Io, output: Output): Promise<readonly string[]> {
  const edits = (await configurationEdits.load(access)).filter(({ state }) => state === 'held')
  if (edits.length === 0) return []
  for (const edit of edits) output.note(edit.text(output))
  if (canAsk(flags, io)) {
    const { confirmPrompt } = await import('../../interactive/confirm.ts')
    if (await confirmPrompt(`Approve ${plural(edits.length, 'edit')}?`, io)) {
      const decided = await configurationEdits.decide(access, 'approve', edits)
      if (decided === edits.length) return []
      output.warn('The file was edited again meanwhile. Run "unfold reload" again.')
    }
  }
  output.note(`${plural(edits.length, 'edit')} waiting for approval: unfold review`)
  return edits.map(({ id }) => id)
}
