import { dirname } from 'node:path'
import { CommandError, exit } from '../base/exit.ts'
import { dataFolder, type Io } from '../base/io.ts'
import type { FoundServer, ServerTarget } from '../config/index.ts'
import type { Flags } from '../grammar/grammar.ts'
import { passphrasePrompt } from '../interactive/passphrase.ts'
import type { Output } from '../output/output.ts'
import { safeText } from '../text/safe.ts'

/** Target of a server with its secrets. Call it only for a server that may be started, because it may run commands. */
export async function targetWithSecrets(server: FoundServer, flags: Flags, io: Io, output: Output): Promise<ServerTarget> {
  const { references, source } = server
  if (references.length === 0) return server.target
  const { passphraseFrom, SecretResolver } = await import('@unfold-mcp/gateway/secrets')
  const resolver = new SecretResolver({
    folder: dirname(source.file),
    home: dataFolder(io),
    environment: io.env,
    passphrase: passphraseFrom({ environment: io.env, prompt: passphrasePrompt(flags, io) }),
  })
  const lookup = await resolver.resolve(references)
  const values = new Map<string, string>()
  const problems: string[] = []
  for (const reference of references) {
    const resolved = lookup(reference)
    if (resolved === undefined) continue
    const text = safeText(reference.text, { limit: 300 })
    if ('problem' in resolved) problems.push(`${text}: ${safeText(resolved.problem)}`)
    else {
      values.set(reference.text, resolved.value)
      if (resolved.warning !== undefined) output.warn(`${text}: ${safeText(resolved.warning)}`)
    }
  }
  if (problems.length === 0) return server.withSecrets(values)
  const where = `${safeText(source.file)}:${source.line}`
  throw new CommandError(exit.failed, 'secret', `Server "${safeText(server.name)}" not started: ${where} ${problems.join('; ')}`)
}
