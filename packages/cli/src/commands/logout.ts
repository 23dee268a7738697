import { exit, usageError } from '../base/exit.ts'
import { dataFolder, type Io } from '../base/io.ts'
import type { Invocation } from '../grammar/grammar.ts'
import { Output } from '../output/output.ts'
import { resolveServerArgument } from '../servers/servers.ts'
import { safeText } from '../text/safe.ts'

/** Deletes the stored tokens and revokes them at the authorization server. */
export async function run(invocation: Invocation, io: Io): Promise<number> {
  const output = new Output(io, invocation.flags)
  const { label, target } = await resolveServerArgument(invocation, io, output)
  if (!('url' in target)) throw usageError(`${safeText(label)} is started by a command and does not support sign-in.`)
  const { resourceOf, tokenStore } = await import('../login/tokens.ts')
  const removed = await tokenStore(dataFolder(io), (message) => output.warn(message)).forget(target.url)
  const { revoke } = await import('../login/revoke.ts')
  const revoked = await Promise.all(removed.map((grant) => revoke(grant, io.signal)))
  output.result(removed.length === 0 ? `Not signed in to ${safeText(label)}` : `Signed out of ${safeText(label)}`, {
    server: label,
    forgotten: removed.length,
    revoked: revoked.filter(Boolean).length,
  })
  if (removed.length === 0) return exit.ok
  // A running gateway would use the token until it expires.
  const { restartServers } = await import('../gateway/running.ts')
  const resource = resourceOf(target.url)
  const restarted = await restartServers(({ address }) => address === resource, io)
  if (restarted.length > 0) output.note(`Reconnecting without it: ${restarted.map((name) => safeText(name)).join(', ')}`)
  return exit.ok
}
