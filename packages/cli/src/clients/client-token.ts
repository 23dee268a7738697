import { isRecord } from '@unfold-mcp/core'
import { CommandError, exit, usageError } from '../base/exit.ts'
import { type Io, isInteractive } from '../base/io.ts'
import { timeLimit } from '../base/time-limit.ts'
import { type Flags, isSet, textOf } from '../grammar/grammar.ts'
import type { GatewayTarget } from './gateway-target.ts'

export interface TokenOptions {
  readonly flags: Flags
  readonly io: Io
  /** Existing entry of the client. */
  readonly present: unknown
}

/** Token for a client: --token, the one in its entry, or a prompt; undefined if none is required. */
export async function clientToken(gateway: GatewayTarget, { flags, io, present }: TokenOptions): Promise<string | undefined> {
  const given = textOf(flags, 'token')
  if (given !== undefined) return checkedToken(given)
  const isNeeded = gateway.wantsToken || (await requiresToken(gateway.address, io))
  if (!isNeeded) return undefined
  const known = tokenIn(present, gateway.address)
  if (known !== undefined || isSet(flags, 'dry-run')) return known
  if (!isInteractive(io) || isSet(flags, 'no-input'))
    throw new CommandError(
      exit.login,
      'token_required',
      'The gateway requires a token. Create one with "unfold token add <name>", and pass it with --token.',
    )
  const { askSecret } = await import('../interactive/secret.ts')
  const message = 'The gateway requires a token. Create one with "unfold token add <name>" in another terminal. Token:'
  return checkedToken(await askSecret(message, io))
}

function checkedToken(token: string): string {
  if (/^[\x21-\x7e]{1,1000}$/u.test(token)) return token
  throw usageError('A token is one word without spaces. It is printed by: unfold token add <name>')
}

/** Only for the same gateway: a token must not be sent to another one. */
function tokenIn(entry: unknown, address: string): string | undefined {
  if (!isRecord(entry)) return undefined
  const texts = Object.values(entry).filter((value) => typeof value === 'string' && URL.canParse(value)) as readonly string[]
  if (!texts.some((text) => new URL(text).origin === new URL(address).origin)) return undefined
  const headers = entry.headers ?? entry.http_headers
  const header = isRecord(headers) ? headers.Authorization : undefined
  return typeof header === 'string' ? /^Bearer (\S+)$/u.exec(header)?.[1] : undefined
}

const probeTimeoutMs = 3_000

/** Whether the gateway rejects anonymous requests. */
async function requiresToken(address: string, io: Io): Promise<boolean> {
  using limit = timeLimit(probeTimeoutMs, [io.signal])
  try {
    const response = await fetch(address, { redirect: 'manual', headers: { accept: 'application/json' }, signal: limit.signal })
    await response.body?.cancel()
    return response.status === 401
  } catch {
    // Unreachable; reported when the entry is verified.
    return false
  }
}
