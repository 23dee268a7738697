// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of configurations look like this
import { execFileSync } from 'node:child_process'
import { chmod, mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Machine, machine } from '../../test/machine.ts'
import { problemText } from './problem.ts'
import { findServers } from './servers.ts'

const pipeMaker = 'mkfifo'
const stdio = { command: 'npx', args: ['-y', 'some-server'], env: { TOKEN: '${TOKEN}' } }
const started = { command: 'npx', args: ['-y', 'some-server'], env: { TOKEN: 't0' } }

async function found(fixture: Machine) {
  const { servers, problems } = await findServers(fixture.system)
  return { servers: servers.map(({ name, target, source, trust }) => ({ name, target, client: source.client, trust })), problems }
}

describe('the files of each client are read', () => {
  test.each([
    ['claude-desktop', '~/.config/Claude/claude_desktop_config.json', { mcpServers: { one: stdio }, theme: 'dark' }],
    ['claude-code', '~/.claude.json', { numStartups: 3, mcpServers: { one: { type: 'stdio', ...stdio } } }],
    ['cursor', '~/.cursor/mcp.json', { mcpServers: { one: stdio } }],
    ['vscode', '~/.config/Code/User/mcp.json', { servers: { one: { type: 'stdio', ...stdio } }, inputs: [] }],
    ['gemini', '~/.gemini/settings.json', { mcpServers: { one: { ...stdio, env: { TOKEN: '$TOKEN' }, trust: true } } }],
    ['windsurf', '~/.codeium/windsurf/mcp_config.json', { mcpServers: { one: stdio } }],
    ['kiro', '~/.kiro/settings/mcp.json', { mcpServers: { one: { ...stdio, autoApprove: ['*'] } } }],
    ['copilot', '~/.copilot/mcp-config.json', { mcpServers: { one: { type: 'local', tools: ['*'], ...stdio } } }],
    ['unfold', '~/.config/unfold/unfold.json', { mcpServers: { one: stdio } }],
    [
      'codex',
      '~/.codex/config.toml',
      '[mcp_servers.one]\ncommand = "npx"\nargs = ["-y", "some-server"]\nenv = { TOKEN = "${TOKEN}" }\n',
    ],
  ])('%s: %s', async (client, file, content) => {
    await using fixture = await machine({ TOKEN: 't0' })
    await fixture.write(file, content)
    expect(await found(fixture)).toEqual({ servers: [{ name: 'one', target: started, client, trust: 'user' }], problems: [] })
  })

  test.each([
    ['unfold', 'unfold.json', { mcpServers: { one: stdio } }],
    ['claude-code', '.mcp.json', { mcpServers: { one: stdio } }],
    ['cursor', '.cursor/mcp.json', { mcpServers: { one: stdio } }],
    ['vscode', '.vscode/mcp.json', { servers: { one: stdio } }],
    [
      'codex',
      '.codex/config.toml',
      '[mcp_servers.one]\ncommand = "npx"\nargs = ["-y", "some-server"]\n[mcp_servers.one.env]\nTOKEN = "${TOKEN}"\n',
    ],
    ['gemini', '.gemini/settings.json', { mcpServers: { one: stdio } }],
    ['kiro', '.kiro/settings/mcp.json', { mcpServers: { one: stdio } }],
  ])('%s: %s in a project, untrusted and running there', async (client, file, content) => {
    await using fixture = await machine({ TOKEN: 't0' })
    await fixture.write(file, content)
    const target = { ...started, cwd: fixture.project }
    expect(await found(fixture)).toEqual({ servers: [{ name: 'one', target, client, trust: 'project' }], problems: [] })
  })

  test('Claude Code stores project servers in the user file', async () => {
    await using fixture = await machine({ TOKEN: 't0' })
    const projects = { [fixture.project]: { mcpServers: { here: stdio } }, '/elsewhere': { mcpServers: { there: stdio } } }
    await fixture.write('~/.claude.json', { projects })
    const target = { ...started, cwd: fixture.project }
    expect(await found(fixture)).toEqual({
      servers: [{ name: 'here', target, client: 'claude-code', trust: 'user' }],
      problems: [],
    })
  })

  test('URLs, under the field names of each client', async () => {
    await using fixture = await machine({ KEY: 'k', GEMINI: 'g' })
    const headers = { Authorization: 'Bearer ${KEY}' }
    await fixture.write('~/.cursor/mcp.json', {
      mcpServers: {
        plain: { url: 'https://a.example/mcp', headers },
        http: { type: 'http', url: 'https://a.example/1' },
        streamable: { type: 'streamable-http', url: 'https://a.example/2' },
        camel: { type: 'streamableHttp', url: 'https://a.example/3' },
        old: { type: 'sse', url: 'https://a.example/sse' },
      },
    })
    await fixture.write('~/.codeium/windsurf/mcp_config.json', { mcpServers: { wind: { serverUrl: 'https://a.example/w' } } })
    await fixture.write('~/.gemini/settings.json', { mcpServers: { star: { httpUrl: 'https://a.example/$GEMINI' } } })
    const codex = `[mcp_servers.codex]
url = "https://a.example/c"
bearer_token_env_var = "KEY"
http_headers = { "X-Region" = "eu" }
env_http_headers = { "X-Star" = "GEMINI" }
`
    await fixture.write('~/.codex/config.toml', codex)
    const { servers, problems } = await found(fixture)
    expect(problems).toEqual([])
    expect(Object.fromEntries(servers.map(({ name, target }) => [name, target]))).toEqual({
      plain: { url: 'https://a.example/mcp', headers: { Authorization: 'Bearer k' }, transport: 'auto' },
      http: { url: 'https://a.example/1', transport: 'http' },
      streamable: { url: 'https://a.example/2', transport: 'http' },
      camel: { url: 'https://a.example/3', transport: 'http' },
      old: { url: 'https://a.example/sse', transport: 'sse' },
      wind: { url: 'https://a.example/w', transport: 'auto' },
      star: { url: 'https://a.example/g', transport: 'http' },
      codex: {
        url: 'https://a.example/c',
        headers: { 'X-Region': 'eu', Authorization: 'Bearer k', 'X-Star': 'g' },
        transport: 'auto',
      },
    })
  })

  test('Codex passes on variables and can disable servers', async () => {
    await using fixture = await machine({ LANG: 'C', OTHER: 'x' })
    await fixture.write(
      '~/.codex/config.toml',
      '[mcp_servers.a]\ncommand = "a"\nenv_vars = ["LANG", "MISSING"]\nenabled = false\n',
    )
    const { servers } = await findServers(fixture.system)
    expect(servers).toMatchObject([{ target: { command: 'a', env: { LANG: 'C' } }, disabled: true, uses: ['LANG'] }])
  })

  test('variables from an envFile, overridden by the definition', async () => {
    await using fixture = await machine()
    await fixture.write('.env', 'A=1\nB="two words" # why\n')
    await fixture.write('.vscode/mcp.json', {
      servers: { one: { command: 'a', envFile: '${workspaceFolder}/.env', env: { A: '9' } } },
    })
    const { servers } = await findServers(fixture.system)
    expect(servers).toMatchObject([{ target: { env: { A: '9', B: 'two words' } } }])
  })

  test('a server disabled by its client is marked', async () => {
    await using fixture = await machine()
    await fixture.write('~/.kiro/settings/mcp.json', {
      mcpServers: { on: { command: 'a' }, off: { command: 'b', disabled: true } },
    })
    const { servers } = await findServers(fixture.system)
    expect(servers.map(({ name, disabled }) => [name, disabled])).toEqual([
      ['on', false],
      ['off', true],
    ])
  })

  test('only the file passed explicitly', async () => {
    await using fixture = await machine()
    await fixture.write('~/.cursor/mcp.json', { mcpServers: { other: { command: 'a' } } })
    const file = await fixture.write('odd.json', { mcpServers: { one: { command: 'a' } } })
    const { servers } = await findServers(fixture.system, { file: 'odd.json' })
    expect(servers).toMatchObject([{ name: 'one', trust: 'user', source: { file } }])
    const missing = await findServers(fixture.system, { file: 'none.json' })
    expect(missing.problems).toMatchObject([{ file: join(fixture.project, 'none.json'), message: 'File not found.' }])
  })
})

describe('common variations', () => {
  test('comments, trailing commas and a byte order mark are allowed, and line numbers are correct', async () => {
    await using fixture = await machine()
    const file = await fixture.write(
      '.vscode/mcp.json',
      '\uFEFF// ours\r\n{\r\n  "servers": {\r\n    /* first */\r\n    "one": { "command": "a", },\r\n  },\r\n}\r\n',
    )
    const { servers, problems } = await findServers(fixture.system)
    expect(problems).toEqual([])
    expect(servers).toMatchObject([{ name: 'one', source: { client: 'vscode', file, line: 5 } }])
  })

  test('a TOML line is where the table of the server begins', async () => {
    await using fixture = await machine()
    await fixture.write(
      '~/.codex/config.toml',
      'model = "x"\n\n[mcp_servers."with space"] # ours\ncommand = "a"\n\n[mcp_servers.two]\ncommand = 5\n',
    )
    const { servers, problems } = await findServers(fixture.system)
    expect(servers).toMatchObject([{ name: 'with space', source: { line: 3 } }])
    expect(problems).toMatchObject([{ line: 7, server: 'two' }])
  })

  test('server names can be anything', async () => {
    await using fixture = await machine()
    await fixture.write(
      '~/.cursor/mcp.json',
      '{ "mcpServers": { "__proto__": { "command": "a" }, "constructor": { "command": "b" }, "--help": { "command": "c" } } }',
    )
    const { servers, problems } = await findServers(fixture.system)
    expect(problems).toEqual([])
    expect(servers.map(({ name, target }) => [name, target])).toEqual([
      ['__proto__', { command: 'a' }],
      ['constructor', { command: 'b' }],
      ['--help', { command: 'c' }],
    ])
  })

  test('an empty object and settings without servers are valid', async () => {
    await using fixture = await machine()
    await fixture.write('.mcp.json', '{}')
    await fixture.write('~/.cursor/mcp.json', { $schema: 'https://a.example/schema.json' })
    await fixture.write('~/.gemini/settings.json', { theme: 'dark' })
    expect(await found(fixture)).toEqual({ servers: [], problems: [] })
  })
})

describe('problems are reported with their location', () => {
  const wrong = async (definition: unknown, env = {}): Promise<string[]> => {
    await using fixture = await machine(env)
    const file = await fixture.write(
      '~/.cursor/mcp.json',
      `{\n"mcpServers": {\n"bad": ${JSON.stringify(definition)},\n"good": { "command": "a" } } }`,
    )
    const { servers, problems } = await findServers(fixture.system)
    expect(servers.map(({ name }) => name)).toEqual(['good'])
    return problems.map((problem) => problemText(problem).replace(file, 'mcp.json'))
  }

  test.each([
    [5, ['mcp.json:3:8: bad: must be an object, not a number.']],
    [{}, ['mcp.json:3:8: bad: requires "command" or "url".']],
    [{ command: 5 }, ['mcp.json:3:19: bad.command: must be a string, not a number. Put it in quotes: "5".']],
    [{ command: '' }, ['mcp.json:3:19: bad.command: must not be empty.']],
    [{ command: 'a\0b' }, ['mcp.json:3:19: bad.command: must not contain NUL characters.']],
    [{ command: 'a', args: '-y x' }, ['mcp.json:3:30: bad.args: must be a list of strings, not a string.']],
    [
      { command: 'a', args: ['--port', 3000, null] },
      [
        'mcp.json:3:40: bad.args[1]: must be a string, not a number. Put it in quotes: "3000".',
        'mcp.json:3:45: bad.args[2]: must be a string, not null.',
      ],
    ],
    [{ command: 'a', env: ['A=1'] }, ['mcp.json:3:29: bad.env: must be an object of strings, not a list.']],
    [{ command: 'a', env: { 'A=B': '1' } }, ['mcp.json:3:36: bad.env.A=B: is not a valid variable name.']],
    [{ command: 'a', disabled: 'yes' }, ['mcp.json:3:34: bad.disabled: must be true or false, not a string.']],
    [{ command: 'a', url: 'https://a.example' }, ['mcp.json:3:8: bad: has both "command" and "url". Remove one, or set "type".']],
    [{ type: 'stdio', url: 'https://a.example' }, ['mcp.json:3:8: bad: type "stdio" requires "command".']],
    [{ type: 'http', command: 'a' }, ['mcp.json:3:8: bad: type "http" requires "url".']],
    [{ url: 'ftp://a.example' }, ['mcp.json:3:15: bad.url: must be an http:// or https:// URL.']],
    [{ url: 'a.example/mcp' }, ['mcp.json:3:15: bad.url: must be an http:// or https:// URL.']],
    [{ url: 'https://a.example', headers: { 'X Y': '1' } }, ['mcp.json:3:52: bad.headers.X Y: is not a valid header name.']],
    [{ url: 'https://a.example', headers: { X: 'a\r\nY: b' } }, ['mcp.json:3:50: bad.headers.X: must not contain line breaks.']],
    [{ type: 7, url: 'https://a.example' }, ['mcp.json:3:16: bad.type: must be a string, not a number. Put it in quotes: "7".']],
  ])('%j', async (definition, problems) => {
    expect(await wrong(definition)).toEqual(problems)
  })

  test.each([
    ['streamable_http', 'Did you mean "streamable-http"?'],
    ['HTTP', 'Did you mean "http"?'],
    ['Stdio', 'Did you mean "stdio"?'],
    ['websocket', 'Known types: stdio, http, streamable-http, streamableHttp, sse.'],
    ['__proto__', 'Known types: stdio, http, streamable-http, streamableHttp, sse.'],
    // A type that only Copilot uses.
    ['local', 'Known types:'],
  ])('the type "%s" is never mistaken for another, and the message suggests: %s', async (type, hint) => {
    const [problem, ...more] = await wrong({ type, url: 'https://a.example', command: 'a' })
    expect(more).toEqual([])
    expect(problem).toContain(`bad.type: unknown type "${type}".`)
    expect(problem).toContain(hint)
  })

  test('missing variables are all reported with file, server and field', async () => {
    const definition = { command: 'a', args: ['${ONE}'], env: { TOKEN: '${TWO}', SET: '${SET}' } }
    expect(await wrong(definition, { SET: 's' })).toEqual([
      'mcp.json:3:31: bad.args[0]: ONE is not set. Set it, or add a default: ${ONE:-value}.',
      'mcp.json:3:56: bad.env.TOKEN: TWO is not set. Set it, or add a default: ${TWO:-value}.',
    ])
  })

  test('a server with unset variables is incomplete: as written, under its own name, and not among the usable ones', async () => {
    await using fixture = await machine({ SET: 's' })
    const incomplete = { command: 'hub', args: ['${ONE}'], env: { A: '${SET}', B: '${env:TWO}' }, cwd: '${THREE}/work' }
    await fixture.write('~/.cursor/mcp.json', {
      mcpServers: {
        hub: incomplete,
        web: { url: 'https://${HOST}/mcp' },
        both: { command: '${FOUR}' },
        worse: { command: '${FOUR}', args: 1 },
      },
    })
    await fixture.write('~/.gemini/settings.json', {
      mcpServers: { hub: { ...incomplete, env: { A: '${SET}', B: '${TWO}' } }, both: { command: 'b' } },
    })
    const all = await findServers(fixture.system)
    expect(all.servers.map(({ name }) => name)).toEqual(['both'])
    expect(all.incomplete.map(({ name, unset, also }) => [name, unset, also.length])).toEqual([
      ['hub', ['ONE', 'TWO', 'THREE'], 1],
      ['web', ['HOST'], 0],
      ['both@cursor', ['FOUR'], 0],
    ])
    expect(all.incomplete[0]?.portable).toEqual(incomplete)
    expect(all.incomplete[1]?.portable).toMatchObject({ url: 'https://${HOST}/mcp' })
    expect(all.problems.filter(({ unset }) => unset === undefined).map(({ server }) => server)).toEqual(['worse'])
  })

  test('a VS Code input is explained', async () => {
    await using fixture = await machine()
    await fixture.write('.vscode/mcp.json', {
      inputs: [{ type: 'promptString', id: 'gh', description: 'A token of GitHub', password: true }],
      servers: { github: { url: 'https://a.example', headers: { Authorization: 'Bearer ${input:gh}' } } },
    })
    const { servers, problems } = await findServers(fixture.system)
    expect(servers).toEqual([])
    expect(problems).toMatchObject([
      {
        server: 'github',
        message:
          'github.headers.Authorization: ${input:gh} is an editor input ("A token of GitHub"), which is not available here. Use an environment variable instead: ${env:GH}.',
      },
    ])
  })

  test('a missing envFile is reported', async () => {
    await using fixture = await machine()
    await fixture.write('.vscode/mcp.json', { servers: { one: { command: 'a', envFile: '.env' } } })
    const { problems } = await findServers(fixture.system)
    expect(problems).toMatchObject([{ message: `one.envFile: file not found: ${join(fixture.project, '.env')}.` }])
  })
})

describe('one broken file never hides the others', () => {
  const broken = async (write: (fixture: Machine) => Promise<unknown>): Promise<string> => {
    await using fixture = await machine()
    await fixture.write('~/.gemini/settings.json', { mcpServers: { good: { command: 'a' } } })
    await write(fixture)
    const { servers, problems } = await findServers(fixture.system)
    expect(servers.map(({ name }) => name)).toEqual(['good'])
    expect(problems).toHaveLength(1)
    return problems.map(problemText).join('').replace(fixture.home, '~')
  }
  const cursor = (content: unknown) => broken((fixture) => fixture.write('~/.cursor/mcp.json', content))

  test.each([
    ['{ "mcpServers": { "a": { "command" "b" } } }', '1:36: Invalid JSON: colon expected.'],
    ['{ "mcpServers": {', '1:18: Invalid JSON: close brace expected.'],
    ['not json at all', '1:1: Invalid JSON: invalid symbol.'],
    ['', '1:1: The file is empty.'],
    ['[]', '1:1: Must contain an object, not a list.'],
    ['null', '1:1: Must contain an object, not null.'],
    ['{ "mcpServers": [] }', '1:17: "mcpServers" must be an object of servers, not a list.'],
    ['{ "mcpServers": { " ": {} } }', '1:24: A server in "mcpServers" has no name.'],
    ['{ "github": { "command": "a" } }', '1:1: Missing "mcpServers". Define servers in an object of that name.'],
    ['['.repeat(1_000_000), '1:1: Nested too deeply.'],
    [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), '1:1: Not valid UTF-8. Save the file as UTF-8.'],
    [Buffer.from('\uFEFF{}', 'utf16le'), '1:1: UTF-16 is not supported. Save the file as UTF-8.'],
    [Buffer.alloc(5_000_001, ' '), '1:1: Larger than 5 MB.'],
  ])('content %#', async (content, problem) => {
    expect(await cursor(content)).toBe(`~/.cursor/mcp.json:${problem}`)
  })

  test('a deeply nested definition', async () => {
    const deep = `{ "mcpServers": { "a": { "command": "b", "x": ${'['.repeat(500)}${']'.repeat(500)} } } }`
    expect(await cursor(deep)).toBe('~/.cursor/mcp.json:1:24: a: nested too deeply.')
  })

  test('invalid TOML', async () => {
    expect(await broken((fixture) => fixture.write('~/.codex/config.toml', '[mcp_servers.a]\ncommand = \n'))).toMatch(
      /^~\/\.codex\/config\.toml:2:\d+: Invalid TOML: .+\.$/,
    )
  })

  test('a symbolic link to itself', async () => {
    const problem = await broken(async ({ home }) => {
      await mkdir(join(home, '.cursor'))
      await symlink(join(home, '.cursor', 'mcp.json'), join(home, '.cursor', 'mcp.json'))
    })
    expect(problem).toBe('~/.cursor/mcp.json:1:1: The symbolic link refers to itself.')
  })

  test('a folder instead of a file', async () => {
    expect(await broken(({ home }) => mkdir(join(home, '.cursor', 'mcp.json'), { recursive: true }))).toBe(
      '~/.cursor/mcp.json:1:1: Not a regular file, but a folder.',
    )
  })

  test.skipIf(process.platform === 'win32')('a named pipe without a writer', async () => {
    const problem = await broken(async ({ home }) => {
      await mkdir(join(home, '.cursor'))
      execFileSync(pipeMaker, [join(home, '.cursor', 'mcp.json')])
    })
    expect(problem).toBe('~/.cursor/mcp.json:1:1: Not a regular file, but a named pipe.')
  })

  // Root can read everything.
  test.skipIf(process.platform === 'win32' || process.getuid?.() === 0)('a file that is not readable', async () => {
    const problem = await broken(async (fixture) => chmod(await fixture.write('~/.cursor/mcp.json', '{}'), 0o000))
    expect(problem).toBe('~/.cursor/mcp.json:1:1: Permission denied.')
  })
})

describe('servers of the same name', () => {
  test('are merged if identical', async () => {
    await using fixture = await machine()
    await fixture.write('~/.cursor/mcp.json', { mcpServers: { one: { command: 'a', args: [] } } })
    await fixture.write('~/.gemini/settings.json', { mcpServers: { one: { command: 'a' } } })
    const { servers } = await findServers(fixture.system)
    expect(servers).toMatchObject([{ name: 'one', source: { client: 'cursor' }, also: [{ client: 'gemini' }] }])
  })

  test('belong to the user if a project defines the same', async () => {
    await using fixture = await machine()
    await fixture.write('~/.cursor/mcp.json', { mcpServers: { one: { command: 'a' } } })
    await fixture.write('.mcp.json', { mcpServers: { one: { command: 'a' } } })
    const { servers } = await findServers(fixture.system)
    expect(servers).toMatchObject([{ name: 'one', trust: 'user', target: { command: 'a' } }])
    expect(servers[0]?.target).not.toHaveProperty('cwd')
  })

  test('are qualified with their clients if they differ', async () => {
    await using fixture = await machine()
    await fixture.write('~/.cursor/mcp.json', { mcpServers: { one: { command: 'a' }, other: { command: 'c' } } })
    await fixture.write('~/.gemini/settings.json', { mcpServers: { one: { command: 'b' } } })
    await fixture.write('.cursor/mcp.json', { mcpServers: { one: { command: 'd' } } })
    const { servers } = await findServers(fixture.system)
    expect(servers.map(({ name, trust }) => [name, trust])).toEqual([
      ['one@cursor', 'user'],
      ['one@gemini', 'user'],
      ['one@cursor-project', 'project'],
      ['other', 'user'],
    ])
  })

  test('are numbered if nothing else distinguishes them', async () => {
    await using fixture = await machine()
    const below = join(fixture.project, 'a')
    await fixture.write('.mcp.json', { mcpServers: { one: { command: 'a' } } })
    await fixture.write('a/.mcp.json', { mcpServers: { one: { command: 'b' }, 'one@claude-code-project': { command: 'c' } } })
    const { servers } = await findServers({ ...fixture.system, cwd: below, root: fixture.project })
    expect(servers.map(({ name, target }) => [name, 'command' in target && target.command])).toEqual([
      ['one@claude-code-project-2', 'b'],
      ['one@claude-code-project-3', 'a'],
      ['one@claude-code-project', 'c'],
    ])
  })
})

test('the masked target contains no secret, not even from a variable', async () => {
  await using fixture = await machine({ TOKEN: 'hunter2' })
  await fixture.write('.mcp.json', { mcpServers: { one: { command: 'a', args: ['--x', '${TOKEN}'], env: { K: 'hunter3' } } } })
  const { servers } = await findServers(fixture.system)
  expect(servers.map(({ shown, uses }) => ({ shown, uses }))).toEqual([
    { shown: { command: 'a', args: ['--x', '${TOKEN}'], env: { K: '***' } }, uses: ['TOKEN'] },
  ])
})
