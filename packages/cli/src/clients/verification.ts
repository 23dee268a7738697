import { connect, isClientError, type Target } from '@unfold-mcp/client'
import { toolTokens } from '@unfold-mcp/core'
import { CommandError, exit } from '../base/exit.ts'
import { toCommandError } from '../base/failure.ts'
import type { Io } from '../base/io.ts'
import { findServers, type ServerTarget } from '../config/index.ts'
import { formatNumber, plural } from '../text/number.ts'
import { safeText } from '../text/safe.ts'
import { type Client, entryName } from './clients.ts'

export type Verification =
  | { readonly status: 'verified'; readonly tools: number; readonly tokens: number }
  | { readonly status: 'not_running' | 'skipped' }
  | { readonly status: 'failed'; readonly error: CommandError }

// A command starts its servers first.
const verifyTimeoutMs = { address: 15_000, command: 60_000 }

/** Connects with the entry now in the client's file. */
export async function verifyEntry(client: Client, io: Io): Promise<Verification> {
  const { servers, problems } = await findServers(io)
  const isOwn = ({ file }: { readonly file: string }): boolean => file === client.file
  const found = servers.find(({ key, source, also }) => key === entryName && [source, ...also].some(isOwn))
  if (found !== undefined) return verifyTarget(found.target, io)
  const problem = problems.find((each) => isOwn(each) && each.server === entryName) ?? problems.find(isOwn)
  const message = `Cannot read entry "${entryName}" from ${client.file}. ${problem?.message ?? 'Entry not found.'}`
  return { status: 'failed', error: new CommandError(exit.failed, 'not_readable', message) }
}

export async function verifyTarget(target: ServerTarget, io: Io): Promise<Verification> {
  const isCommand = 'command' in target
  const lines: string[] = []
  try {
    await using connection = await connect(isCommand ? withEnvironment(target, io) : target, {
      name: entryName,
      signal: io.signal,
      timeoutMs: isCommand ? verifyTimeoutMs.command : verifyTimeoutMs.address,
      onStderr: (line) => void lines.push(line),
    })
    const tools = await connection.tools()
    return { status: 'verified', tools: tools.length, tokens: tools.reduce((sum, tool) => sum + toolTokens(tool), 0) }
  } catch (error) {
    if (io.signal.aborted) throw error
    if (!isCommand && isRefused(error) && isLoopback(target.url)) return { status: 'not_running' }
    return { status: 'failed', error: failureOf(error, target) }
  }
}

// Clients pass on the environment of the user.
function withEnvironment(target: Extract<ServerTarget, { readonly command: string }>, { env }: Io): Target {
  const set = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  return { ...target, env: { ...Object.fromEntries(set), ...target.env } }
}

function failureOf(error: unknown, target: ServerTarget): CommandError {
  if (!isClientError(error, 'login_required')) return toCommandError(error)
  const hasToken = 'headers' in target && target.headers !== undefined
  const message = hasToken
    ? 'The gateway refused the token. Create one with "unfold token add <name>", and connect again with --token.'
    : 'The gateway requires a token. Create one with "unfold token add <name>", and connect again with --token.'
  return new CommandError(exit.login, hasToken ? 'token_refused' : 'token_required', message, { cause: error })
}

function isRefused(error: unknown, depth = 0): boolean {
  if (depth > 5 || !(error instanceof Error)) return false
  if ('code' in error && error.code === 'ECONNREFUSED') return true
  const inner: readonly unknown[] = error instanceof AggregateError ? error.errors : [error.cause]
  return inner.some((each) => isRefused(each, depth + 1))
}

const isLoopback = (url: string): boolean => /^(?:127(?:\.\d+){3}|localhost|\[::1\])$/u.test(new URL(url).hostname)

export function verificationText(verification: Verification): string {
  switch (verification.status) {
    case 'verified':
      return `Verified: ${plural(verification.tools, 'tool')}, ${formatNumber(verification.tokens)} tokens.`
    case 'not_running':
      return 'Not verified: the gateway is not running. Start it with: unfold serve'
    case 'failed':
      return `Verification failed: ${safeText(verification.error.message, { lines: true, limit: 2_000 })}`
    default:
      return ''
  }
}

export function verificationData(verification: Verification): object {
  if (verification.status !== 'failed') return verification
  const { reason, message } = verification.error
  return { status: 'failed', reason, message }
}
