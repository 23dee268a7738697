import { exit, usageError } from '../exit.ts'
import type { Invocation } from '../grammar.ts'
import { dataFolder, type Io } from '../io.ts'
import { Output } from '../output.ts'
import { namedServer } from '../servers.ts'
import { safeText } from '../text/safe.ts'

/** Forgets a sign-in, here and where it was made. */
export async function run(invocation: Invocation, io: Io): Promise<number> {
  const output = new Output(io, invocation.flags)
  const { label, target } = await namedServer(invocation, io, output)
  if (!('url' in target)) throw usageError(`${safeText(label)} is started by a command, so nobody is signed in to it.`)
  const { tokenStore } = await import('../login/tokens.ts')
  const gone = await tokenStore(dataFolder(io), (message) => output.warn(message)).forget(target.url)
  const { revoke } = await import('../login/revoke.ts')
  const revoked = await Promise.all(gone.map((grant) => revoke(grant, io.signal)))
  output.answer(gone.length === 0 ? `Nobody was signed in to ${safeText(label)}.` : `Signed out of ${safeText(label)}.`, {
    server: label,
    forgotten: gone.length,
    revoked: revoked.filter(Boolean).length,
  })
  return exit.ok
}
