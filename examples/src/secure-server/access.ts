import { randomBytes } from 'node:crypto'
import { type Principal, type Tool, unauthorized } from '@unfold-mcp/server'

/** From the one who may do least to the one who may do most. */
const roles = ['viewer', 'editor', 'owner'] as const
type Role = (typeof roles)[number]

export interface User extends Principal {
  readonly role: Role
}

/** The least role that each tool is for. A tool that is missing here is for nobody. */
const required: { readonly [tool: string]: Role } = {
  whoami: 'viewer',
  read_settings: 'viewer',
  change_setting: 'editor',
  admin_reset: 'editor',
  grant_permission: 'owner',
  revoke_permission: 'owner',
}

/** Whether a tool exists for this user. */
export function permit(user: User | undefined, { name }: Tool): boolean {
  const least = Object.hasOwn(required, name) ? required[name] : undefined
  return user !== undefined && least !== undefined && roles.indexOf(user.role) >= roles.indexOf(least)
}

/** Whoever starts the server for themselves, over standard input and output, owns it. */
export const local: User = { id: 'local', role: 'owner' }

export type Tokens = ReadonlyMap<string, User>

/** A token for each role, made anew at every start. */
export function makeTokens(): Tokens {
  return new Map(roles.map((role) => [randomBytes(24).toString('base64url'), { id: role, role }]))
}

/** Knows users by the token they send; turns away everybody else. */
export function byToken(tokens: Tokens): (request: Request) => User | Response {
  return (request) => {
    const token = /^Bearer (?<token>\S+)$/iu.exec(request.headers.get('authorization') ?? '')?.groups?.token
    return (token === undefined ? undefined : tokens.get(token)) ?? unauthorized()
  }
}
