import { once } from 'node:events'
import { hostname } from 'node:os'
import { isFailure, parseBoolean } from '@unfold-mcp/core'
import type { ConfigEdit, EditDecision, RunningGateway } from '@unfold-mcp/gateway'
import { errorMessage } from '../../base/error-message.ts'
import { CommandError, exit, usageError } from '../../base/exit.ts'
import { dataFolder, type Io } from '../../base/io.ts'
import { parseExposure } from '../../clients/exposure.ts'
import { approvedConfig } from '../../gateway/config-approval.ts'
import { logLevel, quietDuring } from '../../gateway/log.ts'
import { findGateways } from '../../gateway/running.ts'
import { connectInstructions, noServersText, toolListSummary } from '../../gateway/serve-text.ts'
import { waitForServers } from '../../gateway/startup.ts'
import { type Invocation, isSet, numberOf, optionalPositional, textOf } from '../../grammar/grammar.ts'
import { passphrasePrompt } from '../../interactive/passphrase.ts'
import { Output } from '../../output/output.ts'
import { editText } from '../../review/configuration-edits.ts'
import { canAsk } from '../../review/reviewer.ts'
import { servingPrompt } from '../../review/serving-prompt.ts'
import { summaryLines } from '../../status/summary.ts'
import { safeText } from '../../text/safe.ts'

// Clients may list only once, so wait for the servers, but not until the client times out.
const readyTimeoutMs = { client: 5_000, person: 10_000 }

/** Runs until interrupted; with --stdio, until stdin closes. */
export async function run(invocation: Invocation, io: Io): Promise<number> {
  const { flags } = invocation
  const named = optionalPositional(invocation)
  const isStdio = isSet(flags, 'stdio')
  checkFlags(isStdio, flags)
  const output = new Output(io, flags)
  const { file, isConfirmed } = await approvedConfig(named, { flags, io, output })
  if (isStdio && !isSet(flags, 'standalone')) {
    const code = await throughGateway(file, flags, io, output)
    if (code !== undefined) return code
  }
  const { createLog, startGateway } = await import('@unfold-mcp/gateway')
  const level = logLevel(flags, 'log-level')
  const log = createLog({ level: level ?? (isStdio ? 'warn' : 'info'), stream: io.stderr })
  const starting = { isFinished: level !== undefined || isStdio }
  const port = numberOf(flags, 'http') ?? numberOf(flags, 'port')
  const host = isStdio ? undefined : textOf(flags, 'host')
  if (port !== undefined && (!Number.isInteger(port) || port > 65_535))
    throw usageError(`--http must be a port between 0 and 65535, not ${port}.`)
  const prompt = passphrasePrompt(flags, io)
  // With --stdio, the terminal belongs to the client.
  const isAttended = !isStdio && canAsk(flags, io)
  const isApproved = isConfirmed || isSet(flags, 'yes')
  const ask = servingPrompt({ io, output, decide: (decision) => running.decideEdits(decision, 'terminal') })
  const running: RunningGateway = await withPortOwner(io, () =>
    startGateway({
      file,
      environment: io.env,
      home: dataFolder(io),
      log: quietDuring(log, () => !starting.isFinished),
      lazy: lazyMode(io),
      ...(port !== undefined && { port }),
      ...(host !== undefined && { host }),
      http: !isStdio,
      ...(prompt !== undefined && !isStdio && { passphrase: prompt }),
      ...(isApproved && { decideAtStart: approveAll }),
      ...(isAttended && !isApproved && { decideAtStart: (edits) => askAtStart(edits, io, output) }),
      ...(isAttended && { onEdits: ask }),
      async signIns(url, hide) {
        const { storedSignIn } = await import('../../login/stored-sign-in.ts')
        return (await storedSignIn(url, io, { warn: (message) => log.warn({}, message), hide }))?.auth
      },
      async startSignIn({ name, url, show, signal }) {
        const { defaultSignInMs, signIn } = await import('../../login/sign-in.ts')
        const { tokenStore } = await import('../../login/tokens.ts')
        await signIn({
          label: safeText(name),
          url,
          store: tokenStore(dataFolder(io), (message) => log.warn({}, message)),
          signal: AbortSignal.any([io.signal, signal]),
          timeoutMs: defaultSignInMs,
          show: async (address) => show(address),
        })
      },
    }),
  )
  io.forceExit.run = () => void running.close()
  // One failure that nobody expected must not disconnect all clients.
  const onRejection = (error: unknown): void => log.error({ error }, 'unhandled rejection; the gateway keeps running')
  process.on('unhandledRejection', onRejection)
  try {
    if (isStdio) await serveStdin(running, { profile: textOf(flags, 'profile'), view: stdioView(flags) }, io)
    else {
      const pending = await reportStart(running, { file, host }, io, output)
      starting.isFinished = true
      if (pending.length > 0) void reportSettled(running, pending, io, output)
      if (!io.signal.aborted) await once(io.signal, 'abort')
      output.note('Shutting down after running calls complete. Interrupt again to force.')
      const installing = running.gateway.upstreams.statuses().filter(({ state }) => state === 'installing')
      if (installing.length > 0)
        output.note(`Stopping installations (up to a minute): ${installing.map(({ name }) => safeText(name)).join(', ')}`)
    }
  } finally {
    // A process manager replaces this replica; a person who presses Ctrl-C does not want to wait for load balancers.
    await running.close({ announce: io.signal.aborted && errorMessage(io.signal.reason) === 'SIGTERM' })
    process.off('unhandledRejection', onRejection)
  }
  return exit.ok
}

/** Names the gateway that uses the port, because starting a second one is the usual reason. */
async function withPortOwner<T>(io: Io, start: () => Promise<T>): Promise<T> {
  try {
    return await start()
  } catch (error) {
    if (!isFailure(error, 'port_in_use')) throw error
    const { port } = error.details
    const owner = (await findGateways({}, io)).find(({ url }) => URL.canParse(url) && new URL(url).port === String(port))
    if (owner === undefined) throw error
    const message = `Port ${port} is in use by the gateway with pid ${owner.pid}, which serves ${safeText(owner.config)}. Use it (unfold status --pid ${owner.pid}), stop it, or choose another port (--http <port>).`
    throw new CommandError(exit.failed, 'port_in_use', message, { details: { port, pid: owner.pid }, cause: error })
  }
}

const approveAll = async (edits: readonly ConfigEdit[]): Promise<EditDecision> => ({ approve: edits.map(({ digest }) => digest) })

/** Edits since the last start need consent too: otherwise, an edit that waits would be approved by a restart. */
async function askAtStart(edits: readonly ConfigEdit[], io: Io, output: Output): Promise<EditDecision> {
  output.note('Edited since the last start:')
  for (const edit of edits) output.note(editText(edit, output))
  const { confirmPrompt } = await import('../../interactive/confirm.ts')
  return (await confirmPrompt('Approve these edits?', io)) ? approveAll(edits) : {}
}

function lazyMode({ env }: Io): boolean | undefined {
  try {
    return parseBoolean('LAZY_MODE', env.LAZY_MODE)
  } catch (error) {
    throw usageError(errorMessage(error))
  }
}

/** Uses a running gateway, so that no server is started twice. */
async function throughGateway(file: string, flags: Invocation['flags'], io: Io, output: Output): Promise<number | undefined> {
  const { serveThroughGateway } = await import('../../bridge/serve.ts')
  const client = { profile: textOf(flags, 'profile'), view: stdioView(flags) }
  const code = await serveThroughGateway(file, client, io, (text) => output.note(text))
  if (code === undefined)
    output.note(
      `No gateway is running with ${safeText(file)}; starting its servers in this process. Run "unfold serve" to share them between clients.`,
    )
  return code
}

function checkFlags(isStdio: boolean, flags: Invocation['flags']): void {
  const wrong = (isStdio ? ['http', 'port', 'json', 'jsonl'] : ['profile', 'exposure', 'view', 'standalone']).find(
    (name) => flags[name] !== undefined,
  )
  if (wrong === undefined) return
  const instead: { readonly [name: string]: string } = {
    profile: '--profile requires --stdio. Over HTTP, clients use the URL: /mcp/<profile>',
    exposure: '--exposure requires --stdio. Over HTTP, clients use the URL: /mcp?exposure=search',
    view: '--view requires --stdio. Over HTTP, clients use the URL: /mcp?groups=a,b',
    standalone: '--standalone requires --stdio.',
  }
  throw usageError(instead[wrong] ?? `--${wrong} and --stdio cannot be combined.`)
}

/** Query string for --host, --exposure and --view. */
function stdioView(flags: Invocation['flags']): string | undefined {
  const exposure = textOf(flags, 'exposure')
  if (exposure !== undefined) parseExposure(exposure)
  const query = { host: textOf(flags, 'host'), exposure }
  const parts = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  )
  const view = textOf(flags, 'view')
  const all = [...(view === undefined ? [] : [view]), ...parts]
  return all.length === 0 ? undefined : all.join('&')
}

/** Prints the startup summary. Returns the servers that are still starting. */
async function reportStart(
  running: RunningGateway,
  { file, host }: { readonly file: string; readonly host: string | undefined },
  io: Io,
  output: Output,
): Promise<readonly string[]> {
  const { gateway, url = '' } = running
  const { config } = gateway
  if (output.isJson) output.item('', { url, pid: process.pid, config: file })
  else output.note(`Serving ${safeText(file)} on ${url}`)
  const pending = await waitForServers(gateway, {
    onLine: (line) => output.note(`  ${line}`),
    clean: (text) => running.redact(text),
    signal: io.signal,
    timeoutMs: readyTimeoutMs.person,
  })
  if (io.signal.aborted) return []
  output.note(noToolsText(gateway) ?? toolListSummary(await gateway.toolbox.preview()))
  const { hasClientTokens, isLoopback } = await import('@unfold-mcp/gateway/config')
  const name = isLoopback(host ?? config.listen.host) ? undefined : hostname()
  output.note(connectInstructions(url, hasClientTokens(config.tokens), name))
  const link = running.signInLink()
  if (link !== undefined) output.note(`Dashboard: ${link.href}   (works once, for ten minutes; later: unfold ui)`)
  return pending
}

/** Replaces the summary of the tools while there are none. */
function noToolsText({ upstreams, notStarted }: RunningGateway['gateway']): string | undefined {
  const statuses = upstreams.statuses()
  const isUsable = ({ state, tools }: (typeof statuses)[number]): boolean => tools > 0 || state === 'ready' || state === 'idle'
  return noServersText(statuses.length + notStarted.size, statuses.filter(isUsable).length)
}

/** Prints the summary again when the remaining servers are ready or failed. */
async function reportSettled(running: RunningGateway, names: readonly string[], io: Io, output: Output): Promise<void> {
  const { gateway } = running
  await waitForServers(gateway, { onLine: () => undefined, signal: io.signal, timeoutMs: Number.POSITIVE_INFINITY, names })
  if (io.signal.aborted) return
  for (const line of summaryLines(gateway, (text) => running.redact(text))) output.note(line)
  output.note(toolListSummary(await gateway.toolbox.preview()))
}

async function serveStdin(
  { gateway }: RunningGateway,
  { profile, view }: { readonly profile: string | undefined; readonly view: string | undefined },
  { signal, stdin }: Io,
): Promise<void> {
  const principal = gateway.access.client(undefined, profile)
  const { serveStdio } = await import('@unfold-mcp/server')
  await waitForServers(gateway, { signal, timeoutMs: readyTimeoutMs.client })
  const inputEnded = new Promise<void>((resolve) => {
    stdin.once('close', resolve)
    // A file emits `end` but never `close`.
    stdin.once('end', resolve)
    signal.addEventListener('abort', () => resolve())
  })
  const serving = serveStdio(gateway.toolbox, { principal, ...(view !== undefined && { view }) })
  if (!signal.aborted) await inputEnded
  await serving.close()
}
