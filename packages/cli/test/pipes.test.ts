import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { home, isRunning, main, run, servers } from './command.ts'

const desk = ['--', ...servers.desk]

test('data goes to stdout, everything else to stderr', async () => {
  await using at = await home()
  const { code, stdout, stderr } = await at.unfold(['call', 'slow', '--steps', '3', ...desk])
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'done\n' })
  expect(stderr).toContain('33% (1/3) step 1')
  const quiet = await at.unfold(['call', 'slow', '--steps', '2', '--quiet', ...desk])
  expect(quiet).toEqual({ code: 0, stdout: 'done\n', stderr: '' })
})

test('--json prints one object, --jsonl one line, and nothing else', async () => {
  await using at = await home()
  const listed = await at.unfold(['list', '--json', ...desk])
  expect(JSON.parse(listed.stdout)).toMatchObject({ tools: expect.arrayContaining([expect.objectContaining({ name: 'echo' })]) })
  expect(listed.stderr).toBe('')
  const called = await at.unfold(['call', 'echo', 'text=hello', '--jsonl', ...desk])
  expect(called.stdout.trimEnd()).not.toContain('\n')
  expect(JSON.parse(called.stdout)).toMatchObject({
    tool: 'echo',
    isError: false,
    content: [{ type: 'text', text: '{"text":"hello"}' }],
  })
})

test('with --json an error is one line of JSON on stderr', async () => {
  await using at = await home()
  const { code, stdout, stderr } = await at.unfold(['call', 'book', '--guests', 'many', '--json', ...desk])
  expect({ code, stdout, lines: stderr.split('\n').length }).toEqual({ code: 2, stdout: '', lines: 2 })
  expect(JSON.parse(stderr)).toMatchObject({ error: { reason: 'invalid_arguments', exitCode: 2, tool: 'book' } })
  const unread = await at.unfold(['list', '--nonsense', '--json'])
  expect(JSON.parse(unread.stderr)).toMatchObject({ error: { reason: 'usage', exitCode: 2 } })
})

test('the exit code identifies the kind of failure', async () => {
  await using at = await home()
  const codeOf = async (...args: readonly string[]): Promise<number | null> => (await at.unfold(args)).code
  expect(await codeOf('call', 'echo', ...desk)).toBe(0)
  expect(await codeOf('call', 'echo', '--colour', 'red', ...desk)).toBe(2)
  expect(await codeOf('list', 'unknown')).toBe(2)
  expect(await codeOf('list', 'http://127.0.0.1:9/mcp')).toBe(4)
  expect(await codeOf('list', '--', 'no-such-command-anywhere')).toBe(4)
  expect(await codeOf('call', 'fail', ...desk)).toBe(5)
  expect(await codeOf('call', 'fial', ...desk)).toBe(5)
  expect(await codeOf('identity', '--expect', '00000000-0000-8000-8000-000000000000', ...desk)).toBe(6)
})

test('an unknown tool is reported with the nearest names', async () => {
  await using at = await home()
  expect((await at.unfold(['call', 'bok', ...desk])).stderr).toContain('book')
})

test('an interrupt exits with 130 and stops the server', async () => {
  await using at = await home()
  const { code, stderr } = await at.unfold(['call', 'slow', '--steps', '300', ...desk], {
    meanwhile: (child) => {
      const look = setInterval(() => {
        if (!child.stderr().includes('step 1')) return
        clearInterval(look)
        child.kill('SIGINT')
      }, 20)
    },
  })
  expect(code).toBe(130)
  expect(stderr).toContain('Interrupted.')
  const [, pid] = /by (\d+)/u.exec(stderr) ?? []
  expect(isRunning(Number(pid))).toBe(false)
})

test('a closed pipe is not a failure', async () => {
  await using at = await home()
  const line = `"$0" "$@" | head -n 2; exit \${PIPESTATUS[0]}`
  const ended = await run('bash', ['-c', line, process.execPath, main, 'call', 'many', ...desk], { env: at.env, cwd: at.folder })
  expect(ended).toEqual({ code: 0, stdout: 'line 0\nline 1\n', stderr: '' })
})

test('nothing is prompted for without a terminal', async () => {
  await using at = await home()
  const call = await at.unfold(['call', ...desk])
  expect(call.code).toBe(2)
  expect(call.stderr).toContain('Missing tool.')
  const missing = await at.unfold(['call', 'book', ...desk])
  expect(missing.code).toBe(2)
  expect(missing.stderr).toContain('--guests is required')
})

test('colours can be forced and disabled', async () => {
  await using at = await home()
  const forced = await at.unfold(['call', 'book', '--help', ...desk], { env: { FORCE_COLOR: '1' } })
  expect(forced.stdout).toContain('\u001b[1m')
  const wanted = await at.unfold(['call', 'book', '--help', '--no-color', ...desk], { env: { FORCE_COLOR: '1' } })
  expect(wanted.stdout).not.toContain('\u001b')
  const piped = await at.unfold(['call', 'book', '--help', ...desk], { env: { NO_COLOR: '1' } })
  expect(piped.stdout).not.toContain('\u001b')
})

test('server output cannot control the terminal', async () => {
  await using at = await home()
  const { stdout } = await at.unfold(['call', 'shout', ...desk])
  expect(stdout).toBe('red hot \\u{1b}]0;title\\u{7} \\u{1b}[2J gone\n')
  const raw = await at.unfold(['call', 'shout', '--json', ...desk])
  expect(raw.stdout).not.toContain('\u001b')
  expect(JSON.parse(raw.stdout).content[0].text).toContain('\u001b[2J')
})

async function withConfig(folder: string): Promise<void> {
  const [command, ...args] = servers.desk
  await writeFile(join(folder, 'servers.json'), JSON.stringify({ mcpServers: { desk: { command, args } } }))
}

test('the server comes before the tool; with --server or UNFOLD_SERVER, tools come first', async () => {
  await using at = await home()
  await withConfig(at.folder)
  const config = ['--config', 'servers.json']
  const output = '{"text":"hi"}\n'
  expect((await at.unfold(['call', 'desk', 'echo', '--text', 'hi', ...config])).stdout).toBe(output)
  expect((await at.unfold(['desk', 'echo', '--text', 'hi', ...config])).stdout).toBe(output)
  expect((await at.unfold(['call', 'echo', '--text', 'hi', '--server', 'desk', ...config])).stdout).toBe(output)
  expect((await at.unfold(['call', '--server', 'desk', 'echo', '--text', 'hi', ...config])).stdout).toBe(output)
  expect((await at.unfold(['echo', '--text', 'hi', ...config], { env: { UNFOLD_SERVER: 'desk' } })).stdout).toBe(output)
})

test('our own flags are recognised in any position; a tool parameter of the same name is --arg:name', async () => {
  await using at = await home()
  const args = ['call', 'echo', '--arg:json', 'a', '--arg:help', 'b', 'text=c', '--deep.name', 'd', '--quiet']
  expect((await at.unfold([...args, ...desk])).stdout).toBe('{"json":"a","help":"b","text":"c","deep":{"name":"d"}}\n')
})

test('arguments are read from words, JSON, a file and stdin', async () => {
  await using at = await home()
  await writeFile(join(at.folder, 'arguments.json'), '\ufeff{"text":"from a file"}')
  const echoed = async (args: readonly string[], stdin = ''): Promise<unknown> =>
    JSON.parse((await at.unfold(['call', 'echo', ...args, ...desk], { stdin })).stdout)
  expect(await echoed(['text=012'])).toEqual({ text: '012' })
  expect(await echoed(['deep:={"name":"x"}'])).toEqual({ deep: { name: 'x' } })
  expect(await echoed(['--args', '{"text":"all"}', '--text', 'later'])).toEqual({ text: 'later' })
  expect(await echoed(['--args', '@arguments.json'])).toEqual({ text: 'from a file' })
  expect(await echoed(['--args', '-'], '{"text":"piped"}')).toEqual({ text: 'piped' })
  expect(await echoed(['-'], '{"text":"piped too"}')).toEqual({ text: 'piped too' })
})

test('invalid JSON is rejected before anything is sent', async () => {
  await using at = await home()
  const { code, stderr } = await at.unfold(['call', 'echo', '--args', '{"text":', ...desk])
  expect(code).toBe(2)
  expect(stderr).toContain('must be JSON')
})

test('a misspelt command is suggested, also to scripts', async () => {
  await using at = await home()
  const typed = await at.unfold(['lst'])
  expect(typed).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean: unfold list') })
  const { error } = JSON.parse((await at.unfold(['-q', 'conect', 'cursor', '--json'])).stderr)
  expect(error).toMatchObject({ reason: 'unknown_server', verbs: ['connect'] })
  // A known command takes precedence over a server name.
  expect((await at.unfold(['call', 'lst'])).stderr).not.toContain('did you mean')
})

test('help is available for the program, a command and a tool', async () => {
  await using at = await home()
  expect((await at.unfold([])).stdout).toContain('Usage: unfold <command>')
  expect((await at.unfold(['list', 'anything', '--help'])).stdout).toContain('Usage: unfold list')
  expect((await at.unfold(['help', 'list'])).stdout).toContain('Usage: unfold list')
  expect((await at.unfold(['call', 'book', '-h', ...desk])).stdout).toContain('Usage: unfold call book')
  const tool = await at.unfold(['call', 'book', '--help', ...desk])
  expect(tool.stdout).toContain('Usage: unfold call book --guests <integer>')
  expect((await at.unfold(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/u)
})

test('a project server is blocked until approved, and again after a change', async () => {
  await using at = await home()
  const project = join(at.folder, 'project')
  const [command, ...args] = servers.desk
  const define = async (extra: object): Promise<void> => {
    const { mkdir } = await import('node:fs/promises')
    await mkdir(project, { recursive: true })
    await writeFile(join(project, '.mcp.json'), JSON.stringify({ mcpServers: { theirs: { command, args, ...extra } } }))
  }
  await define({})
  const blocked = await at.unfold(['list', 'theirs'], { cwd: project })
  expect(blocked.code).toBe(6)
  expect(blocked.stderr).toContain('--yes')
  expect((await at.unfold(['list', 'theirs', '--yes'], { cwd: project })).code).toBe(0)
  expect((await at.unfold(['list', 'theirs'], { cwd: project })).code).toBe(0)
  await define({ env: { MORE: 'yes' } })
  expect((await at.unfold(['list', 'theirs'], { cwd: project })).code).toBe(6)
})

test('tool lists are cached, and completion works without connecting', async () => {
  await using at = await home()
  const first = await at.unfold(['list', '--names', ...desk])
  const second = await at.unfold(['list', '--names', ...desk])
  expect(second.stdout).toBe(first.stdout)
  const completed = await at.unfold(['__complete', 'fish', '2', 'call', servers.desk[0] ?? '', 'bo'])
  expect(completed.stdout).toContain('book')
})

test('an image is saved, and its path printed', async () => {
  await using at = await home()
  const { stdout } = await at.unfold(['call', 'paint', ...desk])
  const [, file = ''] = /\[image, image\/png: (.+)\]/u.exec(stdout) ?? []
  const { readFile, stat } = await import('node:fs/promises')
  expect((await readFile(file)).subarray(1, 4).toString()).toBe('PNG')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  await at.unfold(['call', 'paint', '--output', 'here.png', ...desk])
  expect((await readFile(join(at.folder, 'here.png'))).subarray(1, 4).toString()).toBe('PNG')
})

test('changes are printed as JSON lines, up to --count', async () => {
  await using at = await home()
  const { code, stdout } = await at.unfold(['watch', '--count', '2', '--jsonl', '--', ...servers.odd('grows')])
  expect(code).toBe(0)
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines).toHaveLength(2)
  expect(lines.flatMap(({ added }) => added).slice(0, 2)).toEqual(expect.arrayContaining([expect.stringMatching(/^tool_\d+$/u)]))
})
