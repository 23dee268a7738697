import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Role, roles } from '../src/config/schema.ts'
import { createToken } from '../src/config/tokens.ts'
import { served } from './served.ts'
import { server } from './upstreams.ts'

/** The lowest role that may use each route. A new route fails the first test until it is listed here. */
const required: { readonly [route: string]: Role | 'anyone' } = {
  'GET /status': 'viewer',
  'GET /upstreams': 'viewer',
  'GET /upstreams/*': 'viewer',
  'POST /upstreams/*/restart': 'operator',
  'GET /upstreams/*/settings': 'viewer',
  'POST /upstreams/*/settings': 'admin',
  'POST /upstreams/*/sign-in': 'admin',
  'GET /documents': 'viewer',
  'GET /history': 'viewer',
  'POST /mcp': 'operator',
  'GET /audit': 'viewer',
  'GET /audit/verify': 'viewer',
  'GET /tools': 'viewer',
  'GET /tools/*': 'viewer',
  'GET /view': 'viewer',
  'GET /why': 'viewer',
  'GET /usage': 'viewer',
  'GET /review': 'viewer',
  'POST /review': 'reviewer',
  'GET /edits': 'viewer',
  'POST /edits': 'reviewer',
  'GET /approvals': 'viewer',
  'POST /approvals': 'reviewer',
  'GET /trust': 'viewer',
  'GET /changes': 'viewer',
  'GET /calls': 'viewer',
  'GET /logs': 'viewer',
  'GET /stderr': 'viewer',
  'GET /clients': 'viewer',
  'GET /hosts': 'viewer',
  'GET /savings': 'viewer',
  'GET /events': 'viewer',
  'POST /links': 'admin',
  'GET /session': 'viewer',
  // Needs the token in its body.
  'POST /session': 'anyone',
  'DELETE /session': 'viewer',
  'POST /reload': 'operator',
}

const holders = roles.map((role) => ({ role, ...createToken(`the ${role}`, { role }) }))
const client = createToken('laptop')
const own = { 'x-unfold-csrf': '1' }

let edge: Awaited<ReturnType<typeof served>>

beforeAll(async () => {
  edge = await served({
    mcpServers: { mirror: server('mirror.mjs') },
    tokens: [client.record, ...holders.map(({ record }) => record)],
  })
  await edge.ready('mirror')
})
afterAll(() => edge[Symbol.asyncDispose]())

async function statusOf(route: string, headers: Record<string, string>): Promise<number> {
  const [method = '', path = ''] = route.split(' ')
  const stop = new AbortController()
  const response = await fetch(`${edge.origin}/api${path.replace('*', 'nothing')}`, { method, headers, signal: stop.signal })
  const { status } = response
  stop.abort()
  return status
}

/** Routes whose status differs from what the role allows. */
async function wrong(headers: () => Promise<Record<string, string>>, refusal: number, role?: Role): Promise<readonly string[]> {
  const found: string[] = []
  for (const [route, least] of Object.entries(required)) {
    if (least === 'anyone') continue
    const isAllowed = role !== undefined && roles.indexOf(role) >= roles.indexOf(least)
    const status = await statusOf(route, await headers())
    if (isAllowed === [401, 403].includes(status) || (!isAllowed && status !== refusal)) found.push(`${role} ${route}: ${status}`)
  }
  return found
}

test('every route of the admin API has a role in this table', async () => {
  const { error } = (await edge.api('/nothing')) as { readonly error: string }
  const routes = /Routes below \/api: (.*)\.$/u.exec(error)?.[1]?.split(', ')
  expect(routes?.toSorted()).toEqual(Object.keys(required).toSorted())
})

test('no route answers without a token, or with the token of a client', async () => {
  expect(await wrong(async () => own, 401)).toEqual([])
  expect(await wrong(async () => ({ authorization: `Bearer ${client.token}` }), 403)).toEqual([])
  expect(await statusOf('POST /session', own)).toBe(400)
})

test.each(holders)(
  'AT-UI-7 (X07): a $role may use exactly the routes of that role, with a token and with a cookie',
  async ({ role, token }) => {
    expect(await wrong(async () => ({ authorization: `Bearer ${token}` }), 403, role)).toEqual([])
    // One route signs out.
    const cookie = async (): Promise<Record<string, string>> => {
      const body = JSON.stringify({ token })
      const response = await fetch(`${edge.origin}/api/session`, { method: 'POST', headers: own, body })
      return { ...own, cookie: (response.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '' }
    }
    // A token for metrics only cannot sign in.
    expect(await wrong(cookie, role === 'metrics' ? 401 : 403, role)).toEqual([])
  },
)
