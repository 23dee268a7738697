import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { home, processesWith, servers } from './command.ts'

/** Runs a command against a misbehaving server, and checks that no process of it is left. */
async function tried(what: string, args: readonly string[]) {
  await using at = await home()
  const mark = randomUUID()
  const ended = await at.unfold([...args, '--', ...servers.odd(what, mark)])
  expect(await processesWith(mark)).toEqual([])
  return ended
}

test('a banner on stdout is skipped with a warning', async () => {
  const { code, stdout, stderr } = await tried('banner', ['list', '--names'])
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'go\n' })
  expect(stderr).toContain('Welcome to my server!')
})

test('a server that never responds times out', async () => {
  const { code, stderr } = await tried('hang', ['list', '--timeout', '1', '--json'])
  expect(code).toBe(4)
  expect(JSON.parse(stderr)).toMatchObject({ error: { reason: 'timeout' } })
})

test('the stderr output of a server that exits immediately is shown', async () => {
  const { code, stderr } = await tried('die', ['list'])
  expect(code).toBe(4)
  expect(stderr).toContain('exited with code 3: cannot find its configuration')
  expect(stderr).toContain('cannot find its configuration')
})

test('a server that exits during a call is distinguished from a failing tool', async () => {
  const { code, stderr } = await tried('dies-in-call', ['call', 'go'])
  expect(code).toBe(4)
  expect(stderr).toContain('exited with code 7')
})

test('a call without a response times out', async () => {
  const { code, stderr } = await tried('hangs-in-call', ['call', 'go', '--timeout', '1'])
  expect(code).toBe(4)
  expect(stderr).toContain('No progress was reported')
})

test('endless output is not awaited', async () => {
  const { code } = await tried('flood', ['list', '--timeout', '5', '--quiet'])
  expect([1, 4]).toContain(code)
})

test('a server that declares tools but does not implement tools/list is reported', async () => {
  const { code, stderr } = await tried('liar', ['list'])
  expect(code).toBe(1)
  expect(stderr).toContain('tools/list is not known here')
})

test('tools that change during a call do not affect it', async () => {
  const { code, stdout } = await tried('shifty', ['call', 'go', '--value', 'x'])
  expect({ code, stdout }).toEqual({ code: 0, stdout: '{"value":"x"}\n' })
})

test('a response of 200 MB is rejected before it fills the memory', async () => {
  const { code, stderr } = await tried('large', ['call', 'go', '--json'])
  expect(code).toBe(1)
  expect(JSON.parse(stderr.trim().split('\n').at(-1) ?? '')).toMatchObject({ error: { reason: 'too_large' } })
})

test('control characters in names, descriptions and results are escaped', async () => {
  for (const args of [
    ['list'],
    ['list', '--schemas'],
    ['describe', 'go'],
    ['call', 'go', '--help'],
    ['call', 'go'],
    ['search', 'go'],
    ['tree'],
  ]) {
    const { code, stdout, stderr } = await tried('control', args)
    expect({ args, code }).toEqual({ args, code: 0 })
    expect((stdout + stderr).replaceAll('\n', '')).not.toMatch(/\p{C}/u)
  }
})

test('a recursive schema has flags, and takes JSON for the rest', async () => {
  expect((await tried('cycle', ['call', 'go', '--help'])).stdout).toContain('--node.value')
  const deep = await tried('cycle', ['call', 'go', '--node.value', 'a', 'node.next:={"value":"b","next":{"value":"c"}}'])
  expect(JSON.parse(deep.stdout)).toEqual({ node: { value: 'a', next: { value: 'b', next: { value: 'c' } } } })
})

test('20,000 properties are supported, and the help stays readable', async () => {
  expect((await tried('wide', ['call', 'go', '--property_19999', 'last'])).stdout).toBe('{"property_19999":"last"}\n')
  const { stdout } = await tried('wide', ['call', 'go', '--help'])
  expect(stdout.split('\n').length).toBeLessThan(300)
  const wrong = await tried('wide', ['call', 'go', '--propperty_7', 'x'])
  expect(wrong.code).toBe(2)
  expect(wrong.stderr).toContain('--property_7')
})

test('a pattern with catastrophic backtracking does not hang', async () => {
  const { code } = await tried('pattern', ['call', 'go', '--value', `${'a'.repeat(60)}!`])
  // Rejected by the client, or left to the server.
  expect([0, 2]).toContain(code)
})

test('properties of any name can be set', async () => {
  const { stdout } = await tried('names', ['call', 'go', '--arg:__proto__', 'a', '--arg:--help=b', '--arg:""=c'])
  expect(stdout).toBe('{"__proto__":"a","--help":"b","":"c"}\n')
  expect((await tried('names', ['call', 'go', '--help'])).stdout).toContain('--arg:--help')
})
