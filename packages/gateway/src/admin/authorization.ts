import { printable } from '@unfold-mcp/core'
import type { RequestHead } from '@unfold-mcp/server'
import { isSameToken, presentedToken } from '../access/admin-token.ts'
import { type RejectedTokens, throttledMessage } from '../access/rejected-tokens.ts'
import { type Config, type Role, roles, type TokenRecord } from '../config/schema.ts'
import { verifyToken } from '../config/tokens.ts'
import { isFromOwnPage, presentedSession } from './pages/cookie.ts'
import type { PageSessions } from './pages/sessions.ts'
import { refusal } from './reply.ts'

export interface AuthorizationOptions {
  /** Token of the run file, which may do everything. */
  readonly admin: string
  readonly config: () => Config
  readonly rejected: RejectedTokens
  /** Browsers that are signed in. */
  readonly pages: PageSessions
}

/** Someone who may use the admin routes. */
export interface Administrator {
  /** Name of the token; `undefined` for the token of the run file. */
  readonly token: string | undefined
  readonly role: Role
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
    const { admin, config, rejected, pages } = this.#options
    const session = head.header('authorization') === undefined ? presentedSession(head) : undefined
    const user = session === undefined ? undefined : pages.userOf(session)
    if (session !== undefined && user !== undefined) {
      if (!isFromOwnPage(head)) return refusal(403, crossSite)
      if (user.tokenHash === undefined) return { ...owner, isStillAllowed: () => pages.userOf(session) !== undefined }
      const record = config().tokens.find(({ hash }) => hash === user.tokenHash)
      const isSignedIn = (): boolean => pages.userOf(session) !== undefined
      return record === undefined ? unauthenticated(undefined, required, what) : this.#holder(record, required, what, isSignedIn)
    }
    const presented = presentedToken(head.header('authorization'))
    if (presented !== undefined && isSameToken(presented, admin)) return owner
    const record = presented === undefined ? undefined : verifyToken(presented, config().tokens)
    if (record === undefined) return unauthenticated(rejected.record(head, presented !== undefined), required, what)
    return this.#holder(record, required, what)
  }

  /** Signs a browser in with a token that has a role. Returns the id of its session, or the response that refuses it. */
  signIn(head: RequestHead, presented: string): string | Response {
    const { admin, config, rejected, pages } = this.#options
    if (isSameToken(presented, admin)) return pages.signIn({})
    const record = verifyToken(presented, config().tokens)
    const what = 'The dashboard'
    if (record === undefined) return unauthenticated(rejected.record(head, true), 'viewer', what)
    return mayDo(record, 'viewer') ? pages.signIn({ tokenHash: record.hash }) : forbidden(record, 'viewer', what)
  }

  #holder(record: TokenRecord, required: Role, what: string, isSignedIn = (): boolean => true): Administrator | Response {
    const { role } = record
    if (role === undefined || !mayDo(record, required)) return forbidden(record, required, what)
    const isStillAllowed = (): boolean =>
      isSignedIn() &&
      this.#options
        .config()
        .tokens.some((token) => token.hash === record.hash && token.name === record.name && mayDo(token, required))
    return { token: record.name, role, isStillAllowed }
  }
}

const owner: Administrator = { token: undefined, role: 'admin', isStillAllowed: () => true }

const crossSite = 'Requests with the cookie of the dashboard must come from its own page, with the header x-unfold-csrf.'

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
