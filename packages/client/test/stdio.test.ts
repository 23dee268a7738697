import { expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.ts'
import { connect } from '../src/connect.ts'
import { failure } from './failing.ts'
import { isAlive, server, until } from './processes.ts'

/** Stderr output of a server. */
function listener() {
  const lines: string[] = []
  return { lines, onStderr: (line: string) => void lines.push(line) }
}

test('a server built on the second SDK is used in 2026-07-28, in the probed process', async () => {
  const { lines, onStderr } = listener()
  await using connection = await connect(server('two.mjs'), { onStderr })
  expect(connection).toMatchObject({ era: 'stateless', protocolVersion: '2026-07-28', server: { name: 'two', version: '2.0.0' } })
  expect((await connection.call('era')).content).toEqual([{ type: 'text', text: 'modern' }])
  await until(() => lines.length > 2, 'the received messages')
  expect(lines).toEqual(['wire: server/discover', 'wire: tools/list', 'wire: tools/call'])
})

test('the session era can be selected, without a probe', async () => {
  const { lines, onStderr } = listener()
  await using connection = await connect(server('two.mjs'), { onStderr, protocol: 'session' })
  expect(connection.era).toBe('session')
  expect((await connection.call('era')).content).toEqual([{ type: 'text', text: 'legacy' }])
  await until(() => lines.length > 0, 'the received messages')
  expect(lines[0]).toBe('wire: initialize')
})

test('a server built on the first SDK is used in the session era, in one process', async () => {
  const { lines, onStderr } = listener()
  await using connection = await connect(server('one.mjs'), { onStderr })
  expect(connection).toMatchObject({ era: 'session', server: { name: 'one' } })
  expect((await connection.call('echo', { message: 'hello' })).content).toEqual([{ type: 'text', text: 'hello' }])
  await connection.close()
  expect(lines.filter((line) => line.startsWith('started'))).toHaveLength(1)
})

test('a server that exits on the probe is started again without it', async () => {
  const { lines, onStderr } = listener()
  await using connection = await connect(server('odd.mjs', 'strict'), { onStderr })
  expect(connection.era).toBe('session')
  expect((await connection.tools()).map(({ name }) => name)).toEqual(['go'])
  await connection.close()
  expect(lines.filter((line) => line.startsWith('started'))).toHaveLength(2)
})

test('a server that ignores unknown methods is detected by a ping', async () => {
  const { lines, onStderr } = listener()
  await using connection = await connect(server('odd.mjs', 'silent'), { onStderr })
  expect(connection.era).toBe('session')
  await connection.close()
  expect(lines.slice(1, 4)).toEqual(['wire: server/discover', 'wire: ping', 'wire: initialize'])
})

test('a server that starts slowly is waited for', async () => {
  await using connection = await connect(server('odd.mjs', 'late'))
  expect(connection.server.name).toBe('odd')
})

test('selecting 2026-07-28 for a session-era server fails and leaves no process behind', async () => {
  const { lines, onStderr } = listener()
  const error = await failure(connect(server('one.mjs'), { protocol: '2026-07-28', onStderr }))
  expect(error).toMatchObject({ reason: 'protocol' })
  const [, pid] = /started (\d+)/u.exec(lines[0] ?? '') ?? []
  expect(isAlive(Number(pid))).toBe(false)
})

test('lines that are not messages are ignored, with a warning for the first few', async () => {
  const warnings: string[] = []
  await using connection = await connect(server('odd.mjs', 'banner'), { onWarning: (warning) => void warnings.push(warning) })
  expect((await connection.call('go')).content).toEqual([{ type: 'text', text: 'gone' }])
  expect(warnings).toEqual([
    expect.stringContaining('Welcome to the odd server!'),
    expect.stringContaining('is not a JSON-RPC message; ignored: {"not":"a message"}'),
  ])
})

test('a server that cannot start is reported with its stderr output', async () => {
  const error = await failure(connect(server('odd.mjs', 'crash')))
  expect(error).toMatchObject({ reason: 'server_died', details: { code: 7, signal: null } })
  expect(error.message).toContain('no configuration found')
})

verifies('U08', async () => {
  const noise = ['-e', 'console.log("Listening on port 80")']
  const exited = await failure(connect({ command: 'node', args: noise }))
  expect(exited).toMatchObject({ reason: 'server_died', details: { unexpectedLine: 'Listening on port 80' } })
  expect(exited.message).toContain('It wrote to stdout, but not an MCP message: "Listening on port 80".')
  const hanging = connect({ command: 'node', args: ['-e', `${noise[1]}; setInterval(() => {}, 1_000)`] }, { timeoutMs: 5_000 })
  expect((await failure(hanging)).message).toContain('"Listening on port 80"')
})

test('an uncaught exception is reported without its stack', async () => {
  const { message } = await failure(connect(server('odd.mjs', 'throw')))
  expect(message).toMatch(/^node exited with code 1: TypeError: the key is missing\nLast stderr output:\n/u)
  expect(message).toContain('API_KEY is not set')
  expect(message).not.toMatch(/odd\.mjs:\d|Node\.js v/u)
})

test('an exit during a call fails it at once', async () => {
  await using connection = await connect(server('two.mjs'))
  const error = await failure(connection.call('die'))
  expect(error).toMatchObject({ reason: 'server_died', details: { code: 3 } })
  expect(error.message).toContain('I must go now')
  expect(connection.isClosed).toBe(true)
  expect(await failure(connection.tools())).toMatchObject({ reason: 'server_died' })
})

test('a killed server fails every pending call', async () => {
  await using connection = await connect(server('two.mjs'))
  await connection.tools()
  const waiting = [failure(connection.call('wait')), failure(connection.call('wait'))]
  process.kill(connection.pid ?? 0, 'SIGKILL')
  for (const error of await Promise.all(waiting))
    expect(error).toMatchObject({ reason: 'server_died', details: { signal: 'SIGKILL' } })
})

test('calls sent after the pipe broke and before the process exited fail with the exit of the process', async () => {
  const { lines, onStderr } = listener()
  await using connection = await connect(server('odd.mjs', 'deaf'), { onStderr })
  await connection.tools()
  await connection.call('go')
  await until(() => lines.includes('deaf'), 'the server closed its stdin')
  const broken = failure(connection.call('go'))
  await new Promise((resolve) => setTimeout(resolve, 200))
  const later = failure(connection.call('go'))
  for (const error of [await broken, await later]) expect(error).toMatchObject({ reason: 'server_died', details: { code: 9 } })
})

test('closing ends the process', async () => {
  const connection = await connect(server('two.mjs'))
  const { pid } = connection
  expect(isAlive(pid)).toBe(true)
  await connection.close()
  expect(isAlive(pid)).toBe(false)
  expect(await failure(connection.tools())).toMatchObject({ reason: 'unreachable' })
})

test('closing also ends a server that ignores SIGTERM', async () => {
  const { lines, onStderr } = listener()
  const connection = await connect(server('odd.mjs', 'stubborn'), { onStderr })
  const { pid } = connection
  await connection.close()
  expect(isAlive(pid)).toBe(false)
  expect(lines[0]).toContain('as stubborn')
})

test('descendants of a server end with it', async () => {
  const { lines, onStderr } = listener()
  const connection = await connect(server('odd.mjs', 'parent'), { onStderr })
  await until(() => lines.some((line) => line.startsWith('child')), 'the child of the server')
  const child = Number(lines.find((line) => line.startsWith('child'))?.slice('child '.length))
  expect(isAlive(child)).toBe(true)
  await connection.close()
  await until(() => !isAlive(child), 'the end of the child')
})

test('a server that does not respond times out and is ended', async () => {
  const { lines, onStderr } = listener()
  const error = await failure(connect(server('odd.mjs', 'hang'), { timeoutMs: 3_000, onStderr }))
  expect(error).toMatchObject({ reason: 'timeout', details: { timeoutMs: 3_000 } })
  expect(error.message).toContain('as hang')
  const [, pid] = /started (\d+)/u.exec(lines[0] ?? '') ?? []
  expect(isAlive(Number(pid))).toBe(false)
})

test('connecting can be cancelled', async () => {
  const stop = new AbortController()
  const connecting = failure(connect(server('odd.mjs', 'hang'), { signal: stop.signal }))
  stop.abort()
  expect(await connecting).toMatchObject({ reason: 'cancelled' })
})

test('a target of no known kind is rejected', async () => {
  await expect(connect({ cmd: 'node' } as never)).rejects.toThrow('A target needs one of: command, url, server.')
})

test('a missing command is reported as such', async () => {
  const error = await failure(connect({ command: 'no-such-command-anywhere' }))
  expect(error).toMatchObject({ reason: 'unreachable' })
  expect(error.message).toContain('Command not found')
  const quoted = await failure(connect({ command: 'no-such-command --flag' }))
  expect(quoted.message).toContain('put each argument in "args"')
  expect((await failure(connect({ ...server('one.mjs'), cwd: '/no/such/folder' }))).message).toContain(
    '/no/such/folder does not exist',
  )
})

test('the command is not run in a shell', async () => {
  const { lines, onStderr } = listener()
  const { command, args = [] } = server('odd.mjs')
  await using connection = await connect({ command, args: [...args, '$HOME; echo `id` | cat'] }, { onStderr })
  expect(connection.server.name).toBe('odd')
  await connection.close()
  expect(lines[0]).toMatch(/as \$HOME; echo `id` \| cat$/u)
})

test('only safe environment variables and those of the target are passed on', async () => {
  process.env.UNFOLD_TEST_SECRET = 'secret'
  const authority = process.env.SSL_CERT_FILE
  process.env.SSL_CERT_FILE = '/etc/authority.pem'
  const { lines, onStderr } = listener()
  const target = {
    command: process.execPath,
    args: ['-e', 'console.error(Object.keys(process.env).sort().join()); process.exit(1)'],
    env: { GIVEN: '1' },
  }
  await failure(connect(target, { onStderr, protocol: 'session' }))
  delete process.env.UNFOLD_TEST_SECRET
  if (authority === undefined) delete process.env.SSL_CERT_FILE
  else process.env.SSL_CERT_FILE = authority
  const names = lines[0]?.split(',') ?? []
  expect(names).toEqual(expect.arrayContaining(['PATH', 'GIVEN', 'SSL_CERT_FILE']))
  expect(names).not.toContain('UNFOLD_TEST_SECRET')
})

test('a message that is too large fails the call and not the connection', async () => {
  await using connection = await connect(server('odd.mjs', 'huge'), { maxMessageBytes: 1_000_000 })
  expect(await failure(connection.call('go'))).toMatchObject({ reason: 'too_large', details: { limit: 1_000_000 } })
  expect((await connection.tools()).map(({ name }) => name)).toEqual(['go'])
})

test('a server that sends an endless line is killed', async () => {
  const connection = await connect(server('odd.mjs', 'flood'), { maxMessageBytes: 1_000_000 })
  const { pid } = connection
  expect(await failure(connection.call('go'))).toMatchObject({ reason: 'too_large' })
  await until(() => !isAlive(pid), 'the end of the flood')
  await connection.close()
})

test.each([
  ['circle', 'sent the same cursor twice'],
  ['endless', 'sends more than 1000 pages'],
  ['nonsense', 'sent a page without tools'],
])('a list that is %s is rejected', async (manner, message) => {
  await using connection = await connect(server('odd.mjs', manner))
  const error = await failure(connection.tools())
  expect(error).toMatchObject({ reason: 'protocol' })
  expect(error.message).toContain(message)
})

test('a list that changes between its pages is read again', async () => {
  await using connection = await connect(server('odd.mjs', 'shifting'))
  expect((await connection.tools()).map(({ name }) => name)).toEqual(['go', 'of list 2'])
})

test('invalid tools and duplicate names are ignored with a warning', async () => {
  const warnings: string[] = []
  await using connection = await connect(server('odd.mjs', 'shapeless'), { onWarning: (warning) => void warnings.push(warning) })
  expect(await connection.tools()).toEqual([{ name: 'go', inputSchema: { type: 'object' } }])
  expect(warnings).toHaveLength(3)
})
