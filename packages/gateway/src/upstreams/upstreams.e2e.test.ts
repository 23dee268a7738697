import { describe, expect, test } from 'vitest'
import { isAlive, until } from '../../../client/test/processes.ts'
import { changeable, serveHttp, serveOldSse, serveToolbox } from '../../../client/test/servers.ts'
import { server, watched } from '../../test/upstreams.ts'
import { EventStream } from './events.ts'

describe.each(['session', '2026-07-28'] as const)('an upstream over HTTP (%s)', (protocol) => {
  test('is followed, and a burst is one change', async () => {
    const { toolbox, put } = changeable(2, { exposure: 'everything' })
    await using http = await serveToolbox(toolbox)
    await using all = watched()
    await all.upstreams.apply({ up: { target: { url: http.url }, protocol } })
    await all.upstreams.ready
    expect(all.names('up')).toEqual(['tool_0', 'tool_1'])
    await until(() => all.upstreams.get('up')?.connection !== undefined, 'it is connected')
    for (let i = 2; i < 22; i++) put(`tool_${i}`)
    await until(() => all.names('up').length === 22, 'all tools')
    expect(all.of('tools').length).toBeLessThanOrEqual(3)
    expect(await all.text('up', 'tool_21', { what: 'x' })).toBe('tool_21 x')
  })

  test('that goes away is lost, and its tools are listed again when it returns', async () => {
    const first = changeable(2, { exposure: 'everything' })
    const second = changeable(3, { exposure: 'everything' })
    await using all = watched()
    let port: number
    {
      await using http = await serveToolbox(first.toolbox)
      port = http.port
      await all.upstreams.apply({ up: { target: { url: http.url }, protocol, graceMs: 50, pingMs: 300 } })
      await all.upstreams.ready
    }
    await until(() => all.names('up').length === 0, 'its tools are gone')
    expect(all.upstreams.get('up')?.status).toMatchObject({ state: 'reconnecting' })
    await using _http = await serveToolbox(second.toolbox, port)
    await until(() => all.names('up').length === 3, 'its tools are back')
    expect(await all.text('up', 'tool_2')).toContain('tool_2')
  })

  test('that restarts immediately has its current tools, and the next call works', async () => {
    const first = changeable(1, { exposure: 'everything' })
    const second = changeable(2, { exposure: 'everything' })
    await using all = watched()
    let port: number
    {
      await using http = await serveToolbox(first.toolbox)
      port = http.port
      await all.upstreams.apply({ up: { target: { url: http.url }, protocol } })
      await all.upstreams.ready
    }
    await using _http = await serveToolbox(second.toolbox, port)
    await until(() => all.names('up').length === 2, 'its current tools')
    expect(await all.text('up', 'tool_1')).toContain('tool_1')
  })
})

test('an HTTP+SSE upstream is followed, also after its stream broke', async () => {
  await using all = watched()
  let port: number
  {
    await using old = await serveOldSse()
    port = old.port
    await all.upstreams.apply({ up: { target: { url: old.url, transport: 'sse' } } })
    await all.upstreams.ready
    old.add('extra')
    await until(() => all.names('up').includes('extra'), 'the new tool')
  }
  await using again = await serveOldSse(port)
  await until(
    () => !all.names('up').includes('extra') && all.names('up').includes('echo'),
    'the tools of the one that is there now',
  )
  expect(await all.text('up', 'echo', { message: 'hello' })).toBe('hello')
  expect(again.opened).toBeGreaterThan(0)
})

test('an upstream that requires authentication is reported, and its calls fail with that reason', async () => {
  await using http = await serveHttp((_request, response) => response.writeHead(401).end())
  await using all = watched()
  await all.upstreams.apply({ up: { target: { url: http.url } } })
  await all.reaches('up', 'needs_login')
  await all.upstreams.ready
  await expect(all.upstreams.call('up', 'x', {})).rejects.toMatchObject({ kind: 'needs_login' })
})

describe('upstreams', () => {
  const inProcess = (tools: number) => ({ target: { server: changeable(tools, { exposure: 'everything' }).toolbox } })

  test('are ready with the first server that has tools', async () => {
    await using silent = await serveHttp(() => undefined)
    await using all = watched()
    await all.upstreams.apply({
      dead: { target: { command: 'there-is-no-such-command-as-this' } },
      silent: { target: { url: silent.url } },
      fine: inProcess(1),
    })
    await all.upstreams.ready
    expect(all.names('fine')).toEqual(['tool_0'])
    expect(all.upstreams.get('silent')?.state).toBe('starting')
  })

  test('are ready immediately without servers, or with cached tools', async () => {
    await using none = watched()
    await none.upstreams.apply({})
    await none.upstreams.ready
    await using silent = await serveHttp(() => undefined)
    await using all = watched({ cachedTools: () => [{ name: 'old', inputSchema: { type: 'object' } }] })
    await all.upstreams.apply({ up: { target: { url: silent.url } } })
    await all.upstreams.ready
    expect(all.names('up')).toEqual(['old'])
  })

  test('follow the configuration, and unchanged servers keep running', async () => {
    await using all = watched()
    const kept = { target: server('raw.mjs') }
    const other = { target: server('raw.mjs', 'other') }
    await all.upstreams.apply({ kept, other, gone: inProcess(1) })
    for (const name of ['kept', 'other', 'gone']) await until(() => all.names(name).length === 1, `the tool of ${name}`)
    const pid = all.upstreams.get('kept')?.status.pid
    const before = all.upstreams.get('other')?.status.pid
    const applied = await all.upstreams.apply({
      kept: { ...kept, concurrency: 3 },
      other: { target: server('raw.mjs', 'another') },
      more: inProcess(2),
    })
    expect(applied).toEqual({ added: ['more'], removed: ['gone'], replaced: ['other'], adjusted: ['kept'] })
    await all.reaches('other', 'ready')
    await until(() => all.names('more').length === 2, 'the tools of the new one')
    expect(all.upstreams.get('kept')?.status.pid).toBe(pid)
    expect(isAlive(before)).toBe(false)
    await until(() => all.of('listed').filter(({ upstream }) => upstream === 'other').length === 2, 'its tools were read again')
    // Its tools are unchanged, so clients are not notified.
    expect(all.of('tools').filter(({ upstream }) => upstream === 'other')).toHaveLength(1)
    expect(
      all
        .of('tools')
        .filter(({ upstream }) => upstream === 'gone')
        .at(-1),
    ).toMatchObject({ removed: 1, tools: [] })
    expect(await all.upstreams.apply({ ...all.upstreams.configs })).toEqual({
      added: [],
      removed: [],
      replaced: [],
      adjusted: [],
    })
  })

  test('that are disabled lose their tools at once, and get them back when enabled', async () => {
    await using all = watched()
    const up = inProcess(1)
    await all.upstreams.add('up', up)
    await until(() => all.names('up').length === 1, 'its tool')
    await all.upstreams.add('up', { ...up, disabled: true })
    expect(all.names('up')).toEqual([])
    expect(all.of('tools').at(-1)).toMatchObject({ removed: 1 })
    await expect(all.upstreams.call('up', 'tool_0', {})).rejects.toMatchObject({ kind: 'disabled' })
    await all.upstreams.add('up', up)
    await until(() => all.names('up').length === 1, 'its tool again')
    await all.upstreams.remove('up')
    await expect(all.upstreams.call('up', 'tool_0', {})).rejects.toThrow('The server "up" is not configured.')
  })

  test('are not affected by a listener that throws, or by none', async () => {
    await using all = watched()
    const notified: string[] = []
    all.upstreams.onToolsChanged(undefined)()
    all.upstreams.onToolsChanged(() => {
      throw new Error('oh no')
    })
    const stop = all.upstreams.onToolsChanged(({ upstream }) => notified.push(upstream))
    await all.upstreams.apply({ up: inProcess(1) })
    await until(() => notified.length === 1, 'the other listener is notified')
    expect(all.of('warning').map(({ message }) => message)).toEqual(['a listener for "tools" failed: Error: oh no'])
    stop()
    await all.upstreams.remove('up')
    expect(notified).toEqual(['up'])
  })

  test('can list the current tools on demand, and be restarted', async () => {
    await using all = watched()
    await all.upstreams.apply({ up: { target: server('raw.mjs', 'silent') } })
    await all.upstreams.ready
    const pid = await all.text('up', 'more')
    expect(await all.upstreams.discoverTools('up')).toHaveLength(2)
    expect(all.names('up')).toHaveLength(2)
    all.upstreams.restart('up')
    await until(() => all.names('up').length === 1, 'the tools of the new process')
    expect(await all.text('up', 'more')).not.toBe(pid)
    await expect(all.upstreams.discoverTools('upp')).rejects.toThrow('is not configured. Nearest: up.')
  })

  test('end with their running calls when they are closed', async () => {
    const all = watched()
    await all.upstreams.apply({ up: { target: server('toolbox.mjs') }, slow: { target: server('toolbox.mjs', 'slow') } })
    await all.upstreams.ready
    const call = all.upstreams.call('up', 'wait', {})
    await until(() => all.hasPrinted('waiting'), 'the call is running')
    const pid = all.upstreams.get('up')?.status.pid
    const refused = call.catch((error: unknown) => String(error))
    await all.upstreams.close()
    expect(await refused).toContain('The server "up"')
    expect(isAlive(pid)).toBe(false)
    expect(await all.upstreams.apply({ late: inProcess(1) })).toMatchObject({ added: [] })
    await expect(all.upstreams.call('up', 'pid', {})).rejects.toMatchObject({ kind: 'unavailable' })
  })
})

test('a listener that fails on a warning has no effect', () => {
  const events = new EventStream()
  const seen: string[] = []
  events.all(() => {
    throw new Error('always')
  })
  events.all(({ type }) => seen.push(type))
  events.emit('list_changed', { upstream: 'up', isDeclared: true })
  expect(seen).toEqual(['warning', 'list_changed'])
})

test('in the end the state matches the upstreams, whatever happened to them', async () => {
  await using all = watched({ random: () => 0.1 })
  const box = changeable(3, { exposure: 'everything' })
  await using http = await serveToolbox(box.toolbox)
  await all.upstreams.apply({
    stdio: { target: server('toolbox.mjs'), sweepMs: 0 },
    session: { target: { url: http.url }, protocol: 'session', sweepMs: 0 },
    stateless: { target: { url: http.url }, protocol: '2026-07-28', sweepMs: 0 },
  })
  for (const name of all.upstreams.names) await until(() => all.names(name).length > 0, `the tools of ${name}`)
  for (let round = 0; round < 12; round++) {
    box.put(`tool_${round % 5}`, `As of round ${round}`)
    if (round % 3 === 0) box.remove(`tool_${(round + 1) % 5}`)
    if (round % 4 === 1) process.kill(Number(await all.text('stdio', 'pid')), 'SIGKILL')
    else await all.text('stdio', 'put', { name: `round_${round}` }).catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, round * 7))
  }
  await until(
    () =>
      all.text('stdio', 'put', { name: 'last' }).then(
        () => true,
        () => false,
      ),
    'the last change',
  )
  await until(() => all.names('stdio').includes('last'), 'the last change is listed')
  const before = [...all.upstreams.tools('stdio')]
  expect(await all.upstreams.discoverTools('stdio')).toEqual(before)
  for (const name of ['session', 'stateless'])
    await until(() => [...all.names(name)].sort().join() === box.names().join(), `${name} is listed as it is`)
  expect(all.upstreams.tools('session')).toEqual(all.upstreams.tools('stateless'))
})
