import { exit, usageError } from '../base/exit.ts'
import type { Io } from '../base/io.ts'
import type { Invocation } from '../grammar/grammar.ts'

export async function run({ positionals }: Invocation, { stdout }: Io): Promise<number> {
  const { scripts } = await import('../completion/scripts.ts')
  const [shell = ''] = positionals
  const script = Object.hasOwn(scripts, shell) ? scripts[shell as keyof typeof scripts] : undefined
  if (script === undefined) throw usageError(`Usage: unfold completion ${Object.keys(scripts).join('|')}`)
  stdout.write(script())
  return exit.ok
}
