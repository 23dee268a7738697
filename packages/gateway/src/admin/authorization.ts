import { printable } from '@unfold-mcp/core'
import type { RequestHead } from '@unfold-mcp/server'
import { isSameToken, presentedToken } from '../access/admin-token.ts'
import { type RejectedTokens, throttledMessage } from '../access/rejected-tokens.ts'
import { type Config, type Role, roles, type TokenRecord } from '../config/schema.ts'
import { verifyToken } from '../config/tokens.ts'
import { refusal } from './reply.ts'

export interface AuthorizationOptions {
  /** Token of the run file, which may do everything. */
  readonly admin: string
  readonly config: () => Config
  readonly rejected: RejectedTokens
}

/** Someone who may use the admin routes. */
export interface Administrator {
  /** Name of the token; `undefined` for the token of the run file. */
  readonly token: string | undefined
  /** False once the token was revoked or lost its role. */
  isStillAllowed(): boolean
}

/** Decides who may use the metrics and the admin API. */
export class Authorization {
  readonly #options: AuthorizationOptions

  constructor(options: AuthorizationOptions) {
    this.#options = options
  }

  /** Returns who sent the request, or the response that refuses it: 401 without a valid token, 403 without the role. */
  authorize(head: RequestHead, required: Role, what: string): Administrator | Response {
    const { admin, config, rejected } = this.#options
    const presented = presentedToken(head.header('authorization'))
    if (presented !== undefined && isSameToken(presented, admin)) return { token: undefined, isStillAllowed: () => true }
    const record = presented === undefined ? undefined : verifyToken(presented, config().tokens)
    if (record === undefined) return unauthenticated(rejected.record(head, presented !== undefined), required, what)
    if (!mayDo(record, required)) return forbidden(record, required, what)
    const isStillAllowed = (): boolean =>
      config().tokens.some((token) => token.hash === record.hash && token.name === record.name && mayDo(token, required))
    return { token: record.name, isStillAllowed }
  }
}

const mayDo = ({ role }: TokenRecord, required: Role): boolean =>
  role !== undefined && roles.indexOf(role) >= roles.indexOf(required)

const howTo = (required: Role): string =>
  `Create one with "unfold token add <name> --role ${required}" and send it as Authorization: Bearer <token>.`

function unauthenticated(retryAfterSeconds: number | undefined, required: Role, what: string): Response {
  if (retryAfterSeconds !== undefined)
    return refusal(429, throttledMessage(retryAfterSeconds), { 'retry-after': String(retryAfterSeconds) })
  const message = `${what} requires a token with the role ${required} or higher. ${howTo(required)} The command line (unfold status) uses the token of the run file.`
  return refusal(401, message, { 'www-authenticate': 'Bearer realm="administration"' })
}

function forbidden({ name, role }: TokenRecord, required: Role, what: string): Response {
  const kind = role === undefined ? 'a client token' : `a token with the role ${role}`
  return refusal(403, `"${printable(name)}" is ${kind}. ${what} requires the role ${required} or higher. ${howTo(required)}`)
}
