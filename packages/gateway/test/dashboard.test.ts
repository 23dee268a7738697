import { chmod, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ClientView, ConnectableHost, ExcludedTool, ListUsageRow, Usage } from '../src/admin/contract.ts'
import { PageSessionFile } from '../src/admin/pages/session-file.ts'
import { PageSessions } from '../src/admin/pages/sessions.ts'
import { createToken } from '../src/config/tokens.ts'
import { gatewayFolder } from './gateway-file.ts'
import { changing, served } from './served.ts'

const viewer = createToken('watcher', { role: 'viewer' })
const client = createToken('laptop')
const worker = createToken('worker', { profile: 'work' })
const config = {
  mcpServers: { box: changing(), other: changing() },
  profiles: { work: { servers: ['box'] } },
  tokens: [viewer.record, client.record, worker.record],
}

let edge: Awaited<ReturnType<typeof served>>
let origin: string

beforeAll(async () => {
  edge = await served(config)
  await Promise.all([edge.ready('box'), edge.ready('other')])
  origin = new URL(edge.url).origin
})
afterAll(() => edge[Symbol.asyncDispose]())

const own = { 'x-unfold-csrf': '1' }
const admin = async <T>(path: string): Promise<T> => (await (await edge.ask(path, { token: edge.admin })).json()) as T

async function link(): Promise<string> {
  const response = await edge.ask('/api/links', { method: 'POST', token: edge.admin })
  return ((await response.json()) as { readonly url: string }).url
}

const open = (url: string): Promise<Response> => fetch(url, { redirect: 'manual' })
const cookieOf = (response: Response): string => (response.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? ''

test('AT-UI-1 (X01): a one-time link signs one browser in, without the code in the final address', async () => {
  const url = await link()
  const first = await open(url)
  expect([first.status, first.headers.get('location')]).toEqual([303, '/ui/'])
  expect(first.headers.get('set-cookie')).toMatch(/; HttpOnly; SameSite=Strict$/u)
  const session = await fetch(`${origin}/api/session`, { headers: { ...own, cookie: cookieOf(first) } })
  expect(await session.json()).toEqual({ role: 'admin' })
  const replayed = await open(url)
  expect([replayed.headers.get('location'), replayed.headers.get('set-cookie')]).toEqual(['/ui/#/expired', null])
})

test('AT-UI-5 (X05): a header of an untrusted peer does not make the cookie Secure', async () => {
  const headers = { 'x-forwarded-proto': 'https' }
  const response = await fetch(await link(), { redirect: 'manual', headers })
  expect(response.headers.get('set-cookie')).toMatch(/; HttpOnly; SameSite=Strict$/u)
})

test('a link that was only previewed still works, and one that expired does not', async () => {
  const url = await link()
  await fetch(url, { method: 'HEAD', redirect: 'manual' })
  expect((await open(url)).headers.get('location')).toBe('/ui/')
  let now = 0
  const pages = new PageSessions(() => now)
  const { code, expiresAt } = pages.createLink()
  now = expiresAt
  expect(pages.redeem(code)).toBeUndefined()
})

test('AT-UI-2 (X02): the cookie works only in requests of the own page', async () => {
  const cookie = cookieOf(await open(await link()))
  const status = async (headers: Record<string, string>, method = 'POST', path = '/api/reload'): Promise<number> => {
    const response = await fetch(`${origin}${path}`, { method, headers: { cookie, ...headers } })
    await response.body?.cancel()
    return response.status
  }
  expect(await status({ ...own, origin })).toBe(200)
  expect(await status({ origin })).toBe(403)
  expect(await status({}, 'GET', '/api/status')).toBe(403)
  expect(await status({ ...own, origin: 'https://evil.example' })).toBe(403)
  expect(await status({ ...own, origin: 'http://127.0.0.1:1' })).toBe(403)
  expect(await status({ ...own, 'sec-fetch-site': 'same-site' })).toBe(403)
  expect(await status({ ...own }, 'DELETE', '/api/session')).toBe(200)
  expect(await status({ ...own }, 'GET', '/api/status')).toBe(401)
})

test('AT-UI-3 (X03): a pasted token signs in with its role, and a client token does not', async () => {
  const signIn = (token: string): Promise<Response> =>
    fetch(`${origin}/api/session`, { method: 'POST', headers: own, body: JSON.stringify({ token }) })
  const cookie = cookieOf(await signIn(viewer.token))
  const ask = async (method: string, path: string): Promise<number> =>
    (await fetch(`${origin}/api${path}`, { method, headers: { ...own, cookie } })).status
  expect(await ask('GET', '/status')).toBe(200)
  expect(await ask('POST', '/reload')).toBe(403)
  expect(await ask('POST', '/links')).toBe(403)
  expect((await signIn(client.token)).status).toBe(403)
  expect((await signIn('unfold_wrong')).status).toBe(401)
})

test('AT-UI-4 (X04): the page cannot be framed, runs no inline code, and other paths are not files', async () => {
  const page = await open(`${origin}/ui/`)
  const policy = page.headers.get('content-security-policy')
  expect(policy).toMatch(
    /^default-src 'none'; script-src 'self'; style-src 'self';.*frame-ancestors 'none'; require-trusted-types-for 'script'/u,
  )
  expect(policy).not.toMatch(/unsafe|https?:|\*/u)
  expect([page.headers.get('x-content-type-options'), page.headers.get('cache-control')]).toEqual(['nosniff', 'no-store'])
  expect((await open(`${origin}/ui`)).headers.get('location')).toBe('/ui/')
  for (const path of ['assets/..%2findex.html', 'assets/%2e%2e/package.json', 'package.json'])
    expect([path, (await open(`${origin}/ui/${path}`)).status]).toEqual([path, 404])
})

interface View {
  readonly listed: readonly {
    readonly upstream?: string
    readonly tokens: number
    readonly definition: { readonly name: string }
  }[]
  readonly unlisted: readonly { readonly upstream?: string }[]
  readonly listedTokens: number
}

test('the views of two clients differ as their permissions do', async () => {
  const all = await admin<View>('/api/view?token=laptop')
  const work = await admin<View>('/api/view?token=worker')
  const serversIn = ({ listed, unlisted }: View): readonly string[] =>
    [...new Set([...listed, ...unlisted].flatMap(({ upstream }) => upstream ?? []))].toSorted()
  expect([serversIn(all), serversIn(work)]).toEqual([['box', 'other'], ['box']])
  expect((await edge.ask('/api/view?token=nobody', { token: edge.admin })).status).toBe(404)
})

test('AT-UI-11 (X11): a view names the tools that the client cannot use, with the check that stops them', async () => {
  const excluded = async (who: string): Promise<readonly ExcludedTool[]> => (await admin<ClientView>(`/api/view?${who}`)).excluded
  expect(await excluded('token=laptop')).toEqual([])
  const tools = await admin<readonly { readonly name: string }[]>('/api/tools?upstream=other')
  const stopped = await excluded('token=worker')
  expect(stopped.map(({ name }) => name).toSorted()).toEqual(tools.map(({ name }) => name).toSorted())
  expect(stopped[0]).toMatchObject({ upstream: 'other', cause: 'permission', reason: 'The profile "work" does not include it.' })
  // A host is a client too.
  const [host, view] = await Promise.all([admin('/api/view?token=codex'), admin('/api/view?query=host%3Dcodex')])
  expect(host).toEqual(view)
})

test('a tool that a client does not see has a cause', async () => {
  const tools = await admin<readonly { readonly name: string; readonly upstream: string }[]>('/api/tools?upstream=other')
  const name = encodeURIComponent(tools[0]?.name ?? '')
  expect(await admin(`/api/why?tool=${name}&token=laptop`)).toMatchObject({ isUsable: true, upstream: 'other' })
  expect(await admin(`/api/why?tool=${name}&token=worker`)).toMatchObject({ isUsable: false, cause: 'permission' })
  expect(await admin('/api/why?tool=%3Cscript%3E&token=worker')).toMatchObject({ isUsable: false, cause: 'unknown' })
  expect(await admin(`/api/tools/${name}`)).toMatchObject({ upstream: 'other', definition: { name: tools[0]?.name } })
})

test('tools that nobody called are listed with their cost', async () => {
  const usage = await admin<{ readonly unused: readonly { readonly tokens: number }[] }>('/api/usage')
  expect(usage.unused.length).toBeGreaterThan(0)
  expect(usage.unused.every(({ tokens }) => tokens > 0)).toBe(true)
})

test('every list that a client is sent is measured, with the cost of a full list', async () => {
  const rowsOf = async (): Promise<readonly ListUsageRow[]> => (await admin<Usage>('/api/usage')).lists
  const laptop = ({ client: id }: ListUsageRow): boolean => id.includes('laptop')
  expect((await rowsOf()).some(laptop)).toBe(false)
  const view = await admin<View & { readonly allTokens: number }>('/api/view?token=laptop')
  for (const era of ['session', 'stateless'] as const) {
    await using connected = await edge.connect('', { era, token: client.token })
    await connected.toolNames()
  }
  const rows = (await rowsOf()).filter(laptop)
  const lists = rows.reduce((sum, row) => sum + row.lists, 0)
  expect(lists).toBeGreaterThanOrEqual(2)
  expect(rows.reduce((sum, { sentTokens }) => sum + sentTokens, 0)).toBe(lists * view.listedTokens)
  expect(rows.reduce((sum, { allTokens }) => sum + allTokens, 0)).toBe(lists * view.allTokens)
})

test('a host that requested a list is known as connected, and its entry has no token', async () => {
  const codex = async (): Promise<ConnectableHost | undefined> =>
    (await admin<readonly ConnectableHost[]>('/api/hosts')).find(({ name }) => name === 'codex')
  expect(await codex()).toMatchObject({ lists: 0, entry: expect.stringContaining('"Bearer <token>"') })
  await using connected = await edge.connect('?host=codex', { token: client.token })
  await connected.toolNames()
  expect((await codex())?.lists).toBeGreaterThan(0)
})

test('a gateway without the dashboard serves neither its page nor links to it, and keeps the admin API', async () => {
  await using without = await served({ mcpServers: {}, listen: { dashboard: false } })
  const statusOf = async (path: string, asked: object = {}): Promise<number> => (await without.ask(path, asked)).status
  expect(await statusOf('/ui/')).toBe(404)
  expect(await statusOf('/api/links', { method: 'POST', token: without.admin })).toBe(404)
  expect(await statusOf('/api/session', { method: 'POST', headers: own })).toBe(404)
  expect(await statusOf('/api/status', { token: without.admin })).toBe(200)
  expect(without.running.signInLink()).toBeUndefined()
})

test('sessions outlive the process, as digests, until they end; a file that others may write is ignored', async () => {
  await using folder = await gatewayFolder()
  const problems: unknown[] = []
  let now = 0
  const opened = async (): Promise<PageSessions> => {
    const storage = new PageSessionFile(folder.path, { config: 'unfold.json', onProblem: (error) => problems.push(error) })
    const pages = new PageSessions(() => now, storage)
    await pages.restore()
    return pages
  }
  const first = await opened()
  const [owner, holder, left] = [first.signIn({}), first.signIn({ tokenHash: 'hash' }), first.signIn({})]
  first.signOut(left)
  await first.settled()
  const path = join(folder.path, 'pages', (await readdir(join(folder.path, 'pages')))[0] ?? '')
  expect(await readFile(path, 'utf8')).not.toContain(owner)
  const second = await opened()
  expect([owner, holder, left].map((id) => second.userOf(id))).toEqual([{}, { tokenHash: 'hash' }, undefined])
  now = 12 * 60 * 60_000
  expect((await opened()).userOf(owner)).toBeUndefined()
  now = 0
  await chmod(path, 0o666)
  expect((await opened()).userOf(owner)).toBeUndefined()
  expect(problems).toEqual([])
})
