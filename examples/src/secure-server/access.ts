import { randomBytes } from 'node:crypto'
import { type Principal, type Tool, unauthorized } from '@unfold-mcp/server'

/** From fewest to most permissions. */
const roles = ['viewer', 'editor', 'owner'] as const
type Role = (typeof roles)[number]

export interface User extends Principal {
  readonly role: Role
}

/** Minimum role for each tool. Tools that are not listed are denied to all. */
const required: { readonly [tool: string]: Role } = {
  whoami: 'viewer',
  read_settings: 'viewer',
  change_setting: 'editor',
  admin_reset: 'editor',
  grant_permission: 'owner',
  revoke_permission: 'owner',
}

/** Returns whether this user may use a tool. */
export function permit(user: User | undefined, { name }: Tool): boolean {
  const least = Object.hasOwn(required, name) ? required[name] : undefined
  return user !== undefined && least !== undefined && roles.indexOf(user.role) >= roles.indexOf(least)
}

/** The user on standard input and output started the server, and is its owner. */
export const local: User = { id: 'local', role: 'owner' }

export type Tokens = ReadonlyMap<string, User>

/** Creates a token for each role; tokens change at every start. */
export function makeTokens(): Tokens {
  return new Map(roles.map((role) => [randomBytes(24).toString('base64url'), { id: role, role }]))
}

/** Identifies users by their token; rejects all other requests. */
export function byToken(tokens: Tokens): (request: Request) => User | Response {
  return (request) => {
    const token = /^Bearer (?<token>\S+)$/iu.exec(request.headers.get('authorization') ?? '')?.groups?.token
    return (token === undefined ? undefined : tokens.get(token)) ?? unauthorized()
  }
}
