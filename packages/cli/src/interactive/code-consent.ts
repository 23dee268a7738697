import { isRecord, loadsCode } from '@unfold-mcp/core'
import { CommandError, exit } from '../base/exit.ts'
import { type Io, isInteractive } from '../base/io.ts'
import { type Flags, isSet, textsOf } from '../grammar/grammar.ts'
import { safeText } from '../text/safe.ts'

/** Environment variable of a server that makes programs load or run other code. */
export interface CodeVariable {
  readonly server: string
  readonly name: string
  readonly value: string
}

/** Finds such variables in server definitions by name. */
export function codeVariables(servers: unknown): readonly CodeVariable[] {
  if (!isRecord(servers)) return []
  return Object.entries(servers).flatMap(([server, definition]) => {
    const env = isRecord(definition) && isRecord(definition.env) ? Object.entries(definition.env) : []
    return env.flatMap(([name, value]) => (typeof value === 'string' && loadsCode(name, value) ? [{ server, name, value }] : []))
  })
}

/** The variables of `after` that `before` does not have with the same value. */
export function addedVariables(before: unknown, after: unknown): readonly CodeVariable[] {
  const known = new Set(codeVariables(before).map(keyOf))
  return codeVariables(after).filter((variable) => !known.has(keyOf(variable)))
}

const keyOf = ({ server, name, value }: CodeVariable): string => JSON.stringify([server, name, value])

export interface CodeConsentOptions {
  readonly flags: Flags
  readonly io: Io
  /** What happens without consent. */
  readonly otherwise: string
}

/**
 * Requires consent to variables that load code. They are printed in full. --yes alone does not suffice, so that a script cannot
 * accept them by accident.
 */
export async function requireCodeConsent(
  variables: readonly CodeVariable[],
  { flags, io, otherwise }: CodeConsentOptions,
): Promise<void> {
  if (variables.length === 0) return
  const allowed = new Set(textsOf(flags, 'allow-env'))
  const missing = variables.filter(({ name }) => !allowed.has(name))
  const canAsk = isInteractive(io) && !isSet(flags, 'no-input') && !isSet(flags, 'yes')
  if (missing.length === 0 && (canAsk || isSet(flags, 'yes'))) return
  const lines = variables.map(
    ({ server, name, value }) => `  ${safeText(server)}  ${safeText(name)}=${safeText(withoutCredentials(value))}`,
  )
  const what = `These variables make programs load other code:\n${lines.join('\n')}`
  if (!canAsk) {
    const names = [...new Set(variables.map(({ name }) => safeText(name)))].map((name) => ` --allow-env ${name}`)
    const instead = `${otherwise} Review them, then run this in a terminal, or use --yes${names.join('')}`
    throw new CommandError(exit.blocked, 'code_variables', `${what}\n${instead}`, {
      details: { variables: variables.map(shown) },
    })
  }
  const { confirmPrompt } = await import('./confirm.ts')
  if (!(await confirmPrompt(`${what}\nAllow them?`, io))) throw new CommandError(exit.blocked, 'not_confirmed', otherwise)
}

const shown = ({ server, name, value }: CodeVariable): CodeVariable => ({ server, name, value: withoutCredentials(value) })

// Addresses of package registries may contain a password.
const withoutCredentials = (value: string): string => value.replaceAll(/(?<=\bhttps?:\/\/)[^\s/@]+(?=@)/giu, '***')
