import { describe, expect, test } from 'vitest'
import { createToken } from '../../src/config/tokens.ts'
import { changing, served } from '../served.ts'

const roles = ['metrics', 'viewer', 'reviewer', 'operator', 'admin'] as const
const byRole = new Map(roles.map((role) => [role, createToken(`the ${role}`, { role })]))
const client = createToken('laptop')
const worker = createToken('worker', { profile: 'work' })

const config = {
  mcpServers: { box: changing(), other: changing() },
  profiles: { work: { servers: ['box'] } },
  tokens: [client.record, worker.record, ...[...byRole.values()].map(({ record }) => record)],
}

const reading = [
  '/status',
  '/upstreams',
  '/upstreams/box',
  '/tools',
  '/changes',
  '/calls',
  '/logs',
  '/stderr',
  '/clients',
  '/savings',
  '/events',
].map((path) => ['GET', `/api${path}`, 'viewer'] as const)

/** Every route outside the MCP endpoint, and the lowest role that may use it. */
const routes = [
  ['GET', '/metrics', 'metrics'],
  ...reading,
  ['POST', '/api/upstreams/box/restart', 'operator'],
  ['POST', '/api/reload', 'operator'],
] as const

describe('AT-R10-1: metrics and the admin API require a role', () => {
  test('every role may use the routes of its own and of lower roles, and client tokens none', async () => {
    await using edge = await served(config)
    await Promise.all([edge.ready('box'), edge.ready('other')])
    const status = async (method: string, path: string, token?: string): Promise<number> => {
      const response = await edge.ask(path, { method, ...(token !== undefined && { token }) })
      await response.body?.cancel()
      return response.status
    }
    for (const [method, path, required] of routes) {
      const allowed = [...byRole.keys()].map(
        (role) => [role, roles.indexOf(role) >= roles.indexOf(required) ? 200 : 403] as const,
      )
      const found = await Promise.all(
        [...byRole].map(async ([role, { token }]) => [role, await status(method, path, token)] as const),
      )
      expect([method, path, found]).toEqual([method, path, allowed])
      for (const { token } of [client, worker]) expect([path, await status(method, path, token)]).toEqual([path, 403])
      expect([path, await status(method, path)]).toEqual([path, 401])
      // The token of the run file, which the command line uses.
      expect([path, await status(method, path, edge.admin)]).toEqual([path, 200])
    }
  })

  test('a refusal names the token, the role and the command, and shows nothing of other servers', async () => {
    await using edge = await served(config)
    const refused = await edge.ask('/metrics', { token: worker.token })
    expect(await refused.json()).toEqual({
      error:
        '"worker" is a client token. /metrics requires the role metrics or higher. Create one with "unfold token add <name> --role metrics" and send it as Authorization: Bearer <token>.',
    })
    const low = await edge.ask('/api/reload', { method: 'POST', token: byRole.get('viewer')?.token ?? '' })
    expect(JSON.stringify(await low.json())).toMatch(
      /\\"the viewer\\" is a token with the role viewer\. .* role operator or higher/u,
    )
  })

  test('a token with a role is not for MCP clients, and does not close the gateway to others', async () => {
    const { record, token } = createToken('prometheus', { role: 'metrics' })
    await using edge = await served({ mcpServers: { box: changing() }, tokens: [record] })
    await edge.ready('box')
    const refused = edge.connect('', { token })
    await expect(refused).rejects.toThrow(/a token with the role metrics, which MCP clients cannot use/u)
    await using anonymous = await edge.connect()
    expect(await anonymous.toolNames()).toContain('box__pid')
    // Since there is a token for the metrics, they require one.
    expect((await edge.ask('/metrics')).status).toBe(401)
    expect((await edge.ask('/metrics', { token })).status).toBe(200)
  })

  test('revoking a token ends its event streams', async () => {
    await using edge = await served(config)
    const { token = '' } = byRole.get('viewer') ?? {}
    const open = (role: string): Promise<Response> => edge.ask('/api/events', { token: role })
    const [gone, kept] = [await open(token), await open(byRole.get('admin')?.token ?? '')]
    await edge.write({ ...config, tokens: config.tokens.filter(({ name }) => name !== 'the viewer') })
    await edge.running.reload()
    // Ends only if the gateway closes it.
    expect(await gone.text()).toContain(': open')
    expect((await open(token)).status).toBe(401)
    await kept.body?.cancel()
  })

  test('a token has a profile or a role', async () => {
    const both = { ...createToken('both').record, profile: 'work', role: 'viewer' }
    await expect(served({ ...config, tokens: [both] })).rejects.toThrow(/tokens\[0\]\.role cannot be combined with a profile/u)
  })
})
