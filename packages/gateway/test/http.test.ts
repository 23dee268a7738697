import { stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { isFailure } from '@unfold-mcp/core'
import { describe, expect, test } from 'vitest'
import { until } from '../../client/test/processes.ts'
import { version } from '../src/base/version.ts'
import { createToken } from '../src/config/tokens.ts'
import { runningGateways } from '../src/run-file.ts'
import { changing, served } from './served.ts'

const work = createToken('work', 'small')
const all = createToken('all')
const guarded = {
  mcpServers: { box: changing(), other: changing() },
  profiles: { small: { servers: ['box'], except: ['*__burst'] } },
  tokens: [work.record, all.record],
}

const hello = {
  method: 'POST',
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'knocking', version: '1' } },
  }),
}
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

describe('the routes of a gateway', () => {
  test('report health, readiness, metrics and unknown paths', async () => {
    await using edge = await served({ mcpServers: { box: changing() } })
    await edge.ready('box')
    const client = await edge.connect()
    await client.call('box__pid')
    await client.call('box__put', { name: 'more' })
    await until(() => edge.gateway.upstreams.tools('box').some(({ name }) => name === 'more'), 'the change is followed')
    expect(await (await edge.ask('/healthz')).json()).toEqual({ status: 'alive' })
    expect((await edge.ask('/readyz')).status).toBe(200)
    const metrics = await (await edge.ask('/metrics')).text()
    for (const line of [
      /^unfold_upstream_state\{upstream="box",state="ready"\} 1$/mu,
      /^unfold_upstream_tools\{upstream="box"\} 7$/mu,
      /^unfold_calls_total\{upstream="box",outcome="ok"\} 2$/mu,
      /^unfold_call_seconds_count\{upstream="box"\} 2$/mu,
      /^unfold_tool_changes_total\{upstream="box",kind="added"\} 7$/mu,
      /^unfold_list_changed_total\{upstream="box"\} [1-9]/mu,
      /^unfold_discoveries_total\{upstream="box",outcome="first"\} 1$/mu,
      /^unfold_sessions 1$/mu,
      /^unfold_list_tokens\{part="all"\} [1-9]/mu,
      /^process_resident_memory_bytes [1-9]/mu,
    ])
      expect(metrics).toMatch(line)
    const lost = await edge.ask('/admin')
    expect(lost.status).toBe(404)
    expect(lost.headers.get('x-content-type-options')).toBe('nosniff')
    expect(JSON.stringify(await lost.json())).toMatch(/unknown_path.*/u)
    expect((await edge.ask('/healthz', { method: 'DELETE' })).status).toBe(405)
    await client.close()
  })

  test('reject requests from pages of other sites, and for other host names', async () => {
    await using edge = await served({ mcpServers: {} })
    for (const path of ['/healthz', '/readyz', '/metrics', '/api/status', '/nowhere', '/mcp'])
      for (const origin of ['https://evil.example', 'null'])
        expect((await edge.ask(path, { token: edge.admin, headers: { origin } })).status).toBe(403)
    expect((await edge.ask('/healthz', { headers: { origin: 'http://localhost:3000' } })).status).toBe(200)
  })

  test('are not served on a port in use, and the gateway stops again', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as AddressInfo
    const failure = await served({ mcpServers: {} }, { port }).catch((error: unknown) => error)
    expect(isFailure(failure, 'port_in_use')).toBe(true)
    taken.close()
  })
})

describe('access', () => {
  test('is limited to holders of a token, for the profile of the token', async () => {
    await using edge = await served(guarded)
    await Promise.all([edge.ready('box'), edge.ready('other')])
    for (const token of [undefined, 'unf_wrong', `${work.token}x`, edge.admin, 'x'.repeat(5_000)]) {
      const refused = await fetch(edge.url, {
        ...hello,
        headers: { ...headers, ...(token && { authorization: `Bearer ${token}` }) },
      })
      expect(refused.status).toBe(401)
      expect(refused.headers.get('www-authenticate')).toBe('Bearer')
    }
    const names = async (at: string, token: string): Promise<readonly string[]> => {
      await using client = await edge.connect(at, { token, era: 'stateless' })
      return (await client.toolNames()).filter((name) => name.includes('__'))
    }
    expect(await names('', work.token)).toEqual(['pid', 'put', 'remove', 'wait', 'slowly'].map((name) => `box__${name}`))
    expect(await names('/small', all.token)).toEqual(await names('', work.token))
    expect(await names('', all.token)).toHaveLength(12)
    await using small = await edge.connect('?exposure=search', { token: work.token })
    for (const name of ['other__pid', 'box__burst', 'nobody__nothing']) {
      await expect(small.call(name)).rejects.toThrow(`Tool "${name}" not found`)
      const through = await small.call('call_tool', { name, arguments: {} }).catch(String)
      expect(JSON.stringify(through).replaceAll(name, '')).toMatch(/not found|unknown tool/iu)
    }
    for (const [path, token] of [
      ['/nosuch', all.token],
      ['/%E0%A4%A', all.token],
      ['/smal', work.token],
    ] as const) {
      const lost = await fetch(`${edge.url}${path}`, { ...hello, headers: { ...headers, authorization: `Bearer ${token}` } })
      expect(lost.status).toBe(404)
      expect(await lost.json()).toMatchObject({ jsonrpc: '2.0', error: { code: -32602 }, id: null })
    }
    expect(
      await (await fetch(`${edge.url}/smal`, { ...hello, headers: { ...headers, authorization: `Bearer ${all.token}` } })).json(),
    ).toMatchObject({ error: { data: { reason: 'unknown_profile', profile: 'smal', nearest: ['small'] } } })
  })

  test('requires the right token for the admin API and for metrics', async () => {
    await using edge = await served(guarded)
    for (const token of [undefined, `${edge.admin}x`, '']) {
      const refused = await edge.ask('/api/status', token === undefined ? {} : { token })
      expect(refused.status).toBe(401)
      expect(refused.headers.get('www-authenticate')).toMatch(/^Bearer/u)
    }
    expect((await edge.ask('/api/status', { token: edge.admin })).status).toBe(200)
    expect((await edge.ask('/metrics')).status).toBe(401)
    for (const path of ['/api/status', '/metrics'])
      for (const { token } of [all, work]) expect((await edge.ask(path, { token })).status).toBe(403)
    expect((await edge.ask('/metrics', { token: edge.admin })).status).toBe(200)
    expect((await edge.ask('/healthz')).status).toBe(200)
  })

  test('is never open to other machines without a token, even after the last token is removed', async () => {
    await expect(served({ mcpServers: {} }, { host: '0.0.0.0' })).rejects.toThrow(
      /no client token is configured.*unfold token add/u,
    )
    await using edge = await served({ mcpServers: {}, tokens: [all.record] }, { host: '0.0.0.0' })
    // Programs on this machine find it at a reachable address.
    expect(await edge.api('/status')).toMatchObject({ url: edge.url, transport: 'http', problems: [] })
    const knock = async (): Promise<number> =>
      (await fetch(edge.url, { ...hello, headers: { ...headers, authorization: `Bearer ${all.token}` } })).status
    expect(await knock()).toBe(200)
    await edge.write({ mcpServers: {}, tokens: [] })
    expect(await edge.running.reload()).toEqual({ isApplied: true, problems: [] })
    expect(await knock()).toBe(401)
  })
})

describe('the admin API', () => {
  test('shows servers, tools, changes, calls, clients, savings and the log', async () => {
    await using edge = await served({
      mcpServers: { box: changing(), off: { ...changing(), disabled: true }, wants: { command: `$\{NOT_THERE}` } },
    })
    await edge.ready('box')
    const session = await edge.connect()
    const single = await edge.connect('', { era: 'stateless', headers: { 'user-agent': 'agent' } })
    await session.call('box__put', { name: 'more', description: 'Does more' })
    await single.call('box__pid')
    await until(() => edge.gateway.upstreams.tools('box').length === 7, 'the change is followed')
    expect(await edge.api('/status')).toMatchObject({
      version,
      pid: process.pid,
      config: edge.file,
      url: edge.url,
      isReady: true,
      upstreams: [
        {
          name: 'box',
          state: 'ready',
          tools: 7,
          announcesChanges: true,
          notes: [],
          lastChange: { added: 1, changed: 0, removed: 0 },
        },
        { name: 'off', state: 'disabled' },
      ],
      notStarted: [{ name: 'wants', problems: [{ path: 'mcpServers.wants.command' }] }],
      clients: [
        { era: 'session', name: 'test-client', version: '1.0.0', isListening: true },
        { era: 'stateless', name: 'agent' },
      ],
      savings: { exposure: 'everything', tools: 8, listed: 8 },
    })
    expect(await edge.api('/upstreams/box')).toMatchObject({ name: 'box', tools: 7 })
    expect(await edge.api('/upstreams/bax')).toEqual({ error: 'Unknown server "bax". Nearest: box.' })
    expect(await edge.api('/tools?upstream=box')).toContainEqual(
      expect.objectContaining({ name: 'box__more', upstream: 'box', tool: 'more', description: 'Does more' }),
    )
    expect(await edge.api('/changes?limit=1')).toMatchObject([{ upstream: 'box', added: 1, names: { added: ['more'] } }])
    expect(await edge.api('/calls')).toMatchObject([
      { client: 'anonymous', upstream: 'box', tool: 'put', outcome: 'ok' },
      { client: 'anonymous', upstream: 'box', tool: 'pid', outcome: 'ok' },
    ])
    expect(JSON.stringify(await edge.api('/calls'))).not.toContain('Does more')
    expect(await edge.api('/savings')).toMatchObject({ exposure: 'everything' })
    expect(await edge.api('/clients')).toHaveLength(2)
    expect(await edge.api('/logs?level=info&upstream=box')).toContainEqual(
      expect.objectContaining({
        level: 'info',
        message: expect.stringMatching(/tools changed: \+1 -0 ~0 \(\d+ ms\)/u),
      }),
    )
    expect(await edge.api('/logs?level=loud')).toMatchObject({ error: expect.stringContaining('debug, info, warn, error') })
    expect(await edge.api('/logs?limit=0')).toMatchObject({ error: expect.stringContaining('limit') })
    expect((await edge.ask('/api/reload', { token: edge.admin })).headers.get('allow')).toBe('POST')
    expect((await edge.ask('/api/__proto__', { token: edge.admin })).status).toBe(404)
    await session.close()
    await single.close()
  })

  test('restarts a server, reloads the configuration, and reports what needs a restart', async () => {
    const reload = 'always'
    await using edge = await served({ mcpServers: { box: changing() }, reload })
    await edge.ready('box')
    const before = edge.gateway.upstreams.get('box')?.status.pid
    expect(await edge.api('/upstreams/box/restart', { method: 'POST' })).toEqual({ restarted: 'box' })
    await until(() => ![undefined, before].includes(edge.gateway.upstreams.get('box')?.status.pid), 'it is another process')
    await edge.write({ mcpServers: { box: changing() }, listen: { port: 1 }, limits: { sessions: 5, callsPerMinute: 7 }, reload })
    expect(await edge.api('/reload', { method: 'POST' })).toEqual({ isApplied: true, problems: [] })
    expect(edge.lines.join('')).toContain('Restart the gateway to apply: listen.port, limits.sessions')
    await edge.write({ mcpServers: { box: { comand: 'x' } } })
    expect(await edge.api('/reload', { method: 'POST' })).toMatchObject({
      isApplied: false,
      problems: [{ line: 1, path: expect.stringContaining('mcpServers.box') }],
    })
    expect(edge.gateway.upstreams.get('box')?.state).toBe('ready')
  })

  test('streams events and resumes after the last one', async () => {
    await using edge = await served({ mcpServers: { box: changing() } })
    await edge.ready('box')
    const [first] = (await edge.api('/changes')) as [{ id: number }]
    await using client = await edge.connect()
    await client.call('box__put', { name: 'one' })
    await until(() => edge.gateway.upstreams.tools('box').length === 7, 'the change is followed')
    const response = await edge.ask('/api/events?types=change', {
      token: edge.admin,
      headers: { 'last-event-id': String(first.id) },
    })
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    const reads = (pattern: RegExp): Promise<void> =>
      until(async () => {
        if (!pattern.test(text)) text += (await reader?.read())?.value ?? ''
        return pattern.test(text)
      }, String(pattern))
    await reads(/event: change\ndata: \{[^\n]*"names":\{"added":\["one"\]/u)
    await client.call('box__put', { name: 'two' })
    await reads(/"names":\{"added":\["two"\]/u)
    expect(text).not.toMatch(/event: (?!change)/u)
    expect(await edge.api('/events?types=gossip')).toMatchObject({ error: expect.stringContaining('change') })
    await reader?.cancel()
  })

  test('can be found only by commands of the same user', async () => {
    const edge = await served({ mcpServers: {} })
    try {
      expect(await runningGateways(edge.home)).toEqual([
        {
          pid: process.pid,
          url: edge.url,
          admin: edge.admin,
          bridge: expect.stringMatching(/^unfold_bridge_/u),
          config: edge.file,
          transport: 'http',
          startedAt: expect.any(String),
        },
      ])
      expect((await stat(join(edge.home, 'run', `${process.pid}.json`))).mode & 0o777).toBe(0o600)
      expect((await stat(join(edge.home, 'run'))).mode & 0o777).toBe(0o700)
      await edge.running.close()
      expect(await runningGateways(edge.home)).toEqual([])
    } finally {
      await edge[Symbol.asyncDispose]()
    }
  })
})

describe('a gateway that shuts down', () => {
  test('lets running calls finish, accepts no new calls or clients, and is not ready', async () => {
    await using edge = await served({ mcpServers: { box: changing() } })
    await edge.ready('box')
    await using client = await edge.connect()
    const running = client.call('box__slowly', { ms: 1_000 })
    await until(() => edge.gateway.upstreams.get('box')?.status.calls.running === 1, 'the call runs')
    const closed = edge.running.close()
    expect((await edge.ask('/readyz')).status).toBe(503)
    expect((await edge.ask('/healthz')).status).toBe(200)
    const stranger = await fetch(edge.url, { ...hello, headers })
    expect([stranger.status, stranger.headers.get('retry-after')]).toEqual([503, '5'])
    const late = await client.call('box__pid')
    expect(late).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('The gateway is shutting down. The tool was not called') }],
    })
    expect(await running).toMatchObject({ content: [{ text: 'done' }] })
    await closed
    await expect(edge.ask('/healthz')).rejects.toThrow('fetch failed')
  })

  test('shuts down immediately on a second call', async () => {
    await using edge = await served({ mcpServers: { box: changing() } })
    await edge.ready('box')
    const client = await edge.connect()
    const running = client.call('box__wait')
    await until(() => edge.gateway.upstreams.get('box')?.status.calls.running === 1, 'the call runs')
    const first = edge.running.close({ withinMs: 600_000 })
    await edge.running.close()
    await first
    expect(await running).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('The call may have had an effect') }],
    })
    expect(edge.lines.join('')).toContain('Cancelling calls that are still running')
    await client.client.close()
  })
})
