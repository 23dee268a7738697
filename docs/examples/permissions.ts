//#region permit
import { defineToolbox, listen, type Principal, unauthorized } from '@unfold-mcp/server'

interface User extends Principal {
  readonly role: 'reader' | 'admin'
}

export const accounts = defineToolbox({
  name: 'accounts',
  version: '1.0.0',
  groups: { admin: { description: 'Administration' } },
  permit: (user: User | undefined, tool) => user?.role === 'admin' || tool.annotations?.readOnlyHint === true,
})

accounts.tool(
  'list_accounts',
  { description: 'List accounts', readOnly: true },
  (_input, ctx) => `Accounts that ${ctx.principal?.id} may see.`,
)
accounts.tool('reset', { group: 'admin', description: 'Reset the system', destructive: true }, () => 'Reset.')
//#endregion

//#region authenticate
const users = new Map<string, User>([
  ['token-of-ada', { id: 'ada', role: 'admin' }],
  ['token-of-bob', { id: 'bob', role: 'reader' }],
])

export const serveAccounts = (port: number) =>
  listen(accounts, {
    port,
    authenticate: (request) => users.get(request.headers.get('authorization')?.replace('Bearer ', '') ?? '') ?? unauthorized(),
  })
//#endregion
