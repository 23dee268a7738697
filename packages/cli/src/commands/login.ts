import { CommandError, exit, usageError } from '../base/exit.ts'
import { dataFolder, type Io, isInteractive } from '../base/io.ts'
import { openAddress } from '../base/open-browser.ts'
import { type Invocation, isSet, numberOf, textOf } from '../grammar/grammar.ts'
import { Output } from '../output/output.ts'
import { resolveServerArgument } from '../servers/servers.ts'
import { safeText } from '../text/safe.ts'

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const { flags } = invocation
  const output = new Output(io, flags)
  const { label, target } = await resolveServerArgument(invocation, io, output)
  if (!('url' in target))
    throw usageError(
      `${safeText(label)} is started by a command and does not support sign-in. Pass credentials as environment variables.`,
    )
  const usesBrowser = !isSet(flags, 'no-browser')
  if (usesBrowser && (!isInteractive(io) || isSet(flags, 'no-input')))
    throw new CommandError(exit.login, 'no_terminal', 'Sign-in requires a terminal. Use --no-browser to print the URL.')
  const { defaultSignInMs, signIn } = await import('../login/sign-in.ts')
  const { tokenStore } = await import('../login/tokens.ts')
  const store = tokenStore(dataFolder(io), (message) => output.warn(message))
  const seconds = numberOf(flags, 'timeout')
  const grant = await signIn({
    label: safeText(label),
    url: target.url,
    store,
    signal: io.signal,
    timeoutMs: seconds === undefined ? defaultSignInMs : seconds * 1_000,
    scope: textOf(flags, 'scope'),
    clientId: textOf(flags, 'client-id'),
    clientSecret: io.env.UNFOLD_CLIENT_SECRET,
    show: async (address) => {
      const isOpened = usesBrowser && (await openAddress(address, io))
      // Printed even with --quiet: the user needs the URL.
      io.stderr.write(
        `${isOpened ? `Opening ${address.host} in your browser. If it does not open: ` : 'Sign in at: '}${address.href}\n`,
      )
    },
  })
  const { issuer, resource, tokens } = grant
  output.result(`Signed in to ${safeText(label)} (${safeText(issuer)})`, {
    server: label,
    issuer,
    resource,
    ...(tokens.scope !== undefined && { scope: tokens.scope }),
    ...(tokens.expiresAt !== undefined && { expires_at: new Date(tokens.expiresAt).toISOString() }),
  })
  const { restartServers } = await import('../gateway/running.ts')
  const tried = await restartServers(({ state }) => state === 'needs_login', io)
  if (tried.length > 0) output.note(`Reconnecting: ${tried.map((name) => safeText(name)).join(', ')}`)
  output.note(`Tokens: ${store.file}. Remove them with: unfold logout ${safeText(label)}`)
  return exit.ok
}
