import { nearest, nearestHint } from '@unfold-mcp/core'
import { usageError } from '../base/exit.ts'

interface Subcommands<T> {
  readonly subcommands: { readonly [name: string]: T }
  readonly usage: string
}

/** Returns the subcommand of a verb. Throws a usage error if none is given or it does not exist. */
export function subcommandOf<T>(verb: string, name: string | undefined, { subcommands, usage }: Subcommands<T>): T {
  if (name === undefined) throw usageError(`Missing subcommand. Usage: ${usage}`)
  const subcommand = Object.hasOwn(subcommands, name) ? subcommands[name] : undefined
  if (subcommand !== undefined) return subcommand
  const hint = nearestHint(nearest(name, Object.keys(subcommands)))
  throw usageError(`"${name}" is not a subcommand of "unfold ${verb}".${hint} Usage: ${usage}`)
}
