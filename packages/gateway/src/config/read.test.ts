// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is tested

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/runs.ts'
import { ConfigError, type ConfigProblem, problemLine } from './problem.ts'
import { parseConfig, readConfig } from './read.ts'

const file = 'unfold.json'
const read = (text: string, environment = {}) => parseConfig(text, { file, environment })

/** All problems of a text, or none if it is valid. */
function problems(text: string): readonly ConfigProblem[] | undefined {
  try {
    read(text)
    return undefined
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

/** The same, one line each. */
const mistakes = (text: string): readonly string[] => problems(text)?.map(problemLine) ?? []

const json = (value: unknown): string => JSON.stringify(value, null, 2)

describe('a configuration', () => {
  test('accepts existing mcpServers files', () => {
    const { config } = read(
      json({
        mcpServers: {
          git: { command: 'uvx', args: ['mcp-server-git'], env: { A: 'b' } },
          docs: { type: 'streamable-http', url: 'https://docs.example/mcp', headers: { 'X-Key': 'k' } },
        },
      }),
    )
    expect(config).toMatchObject({ exposure: 'auto', listen: { host: '127.0.0.1', port: 7420 }, store: { kind: 'sqlite' } })
    expect(config.mcpServers.git).toMatchObject({ command: 'uvx', start: 'eager', disabled: false, sweepMs: 300_000 })
    expect(config.mcpServers.docs).toMatchObject({ url: 'https://docs.example/mcp', concurrency: 64 })
  })

  test('can contain comments, trailing commas and a byte order mark', () => {
    const { config } = read('\uFEFF// mine\n{ "mcpServers": { "a": { "command": "x", }, /* more */ }, }')
    expect(Object.keys(config.mcpServers)).toEqual(['a'])
  })

  test('can be just {}', () => {
    expect(read('{}').config.mcpServers).toEqual({})
  })

  test('of another program is accepted, with warnings for unknown keys', () => {
    const { config, warnings } = read('{ "mcpServers": { "a": { "command": "x", "autoApprove": ["y"] } } }')
    expect(config.mcpServers.a).not.toHaveProperty('autoApprove')
    expect(warnings.map(problemLine)).toEqual([
      'unfold.json:1:42: mcpServers.a.autoApprove is a setting of another program and is ignored.',
    ])
  })

  test('has a trust setting per server, and ignores the one of Gemini CLI', () => {
    const { config, warnings } = read(
      '{ "mcpServers": { "a": { "command": "x", "trust": "pin" }, "b": { "command": "y", "trust": true } } }',
    )
    expect(config.mcpServers).toMatchObject({ a: { trust: 'pin' }, b: { command: 'y' } })
    expect(config.mcpServers.b).not.toHaveProperty('trust', true)
    expect(warnings.map(problemLine)).toEqual([
      'unfold.json:1:83: mcpServers.b.trust is a setting of another program and is ignored.',
    ])
  })

  test('warns when the API key of an embedder would be sent unencrypted', () => {
    const doubtsOf = (url: string): readonly string[] =>
      read(json({ search: { embedder: { url, model: 'm', apiKey: 'key' } } })).warnings.map(problemLine)
    expect(doubtsOf('http://models.example/v1')).toEqual([
      'unfold.json:4:7: search.embedder.url sends the apiKey unencrypted. Use https.',
    ])
    expect([...doubtsOf('https://models.example/v1'), ...doubtsOf('http://127.0.0.1:11434/v1')]).toEqual([])
  })

  test('warns about similar server names', () => {
    const { warnings } = read(json({ mcpServers: { server1: { command: 'x' }, serverl: { command: 'y' } } }))
    expect(warnings.map(problemLine)).toEqual([
      'unfold.json:6:5: mcpServers.serverl is easily confused with "server1". Rename one of them.',
    ])
  })

  test('warns about server names that differ only in a letter of another script, and shows which', () => {
    const { warnings } = read(json({ mcpServers: { '\u{430}pi': { command: 'x' }, api: { command: 'y' } } }))
    expect(warnings.map(problemLine)).toEqual([
      'unfold.json:6:5: mcpServers.api is easily confused with "\\u{430}pi". Rename one of them.',
    ])
  })
})

describe('a configuration error', () => {
  test.each([
    [
      '{ "mcpServers": { "git": { "comand": "x" } } }',
      ['unfold.json:1:28: mcpServers.git.comand is not a known key. Did you mean "command"?'],
    ],
    ['{ "servers": {} }', ['unfold.json:1:3: servers is not a known key. Did you mean "mcpServers"?']],
    ['{ "mcpServers": { "git": {} } }', ['unfold.json:1:26: mcpServers.git requires "command" or "url".']],
    ['{ "mcpServers": { "git": { "type": "sse" } } }', ['unfold.json:1:26: mcpServers.git requires "url".']],
    [
      '{ "mcpServers": { "git": { "command": "a", "url": "b" } } }',
      ['unfold.json:1:44: mcpServers.git.url cannot be combined with "command". Remove one of them.'],
    ],
    ['{ "mcpServers": { "git": "x" } }', ['unfold.json:1:26: mcpServers.git must be an object, not a string.']],
    [
      '{ "mcpServers": { "git": { "command": "a", "args": "b" } } }',
      ['unfold.json:1:52: mcpServers.git.args must be an array, not a string.'],
    ],
    [
      '{ "mcpServers": { "a": { "url": "http://x/", "type": "htp" } } }',
      [
        'unfold.json:1:54: mcpServers.a.type must be one of "http", "streamable-http", "streamableHttp", "sse", not "htp". Did you mean "http"?',
      ],
    ],
    [
      '{ "mcpServers": { "a": { "url": "ftp://x/" } } }',
      ['unfold.json:1:33: mcpServers.a.url must be an http:// or https:// URL.'],
    ],
    [
      '{ "mcpServers": { "a": { "command": "x", "excludeTools": ["rm"] } } }',
      ['unfold.json:1:42: mcpServers.a.excludeTools is not a known key. Did you mean "deny"?'],
    ],
    [
      '{ "exposure": "lasy" }',
      [
        'unfold.json:1:15: exposure must be one of "auto", "everything", "native", "groups", "lazy", "search", "code", not "lasy". Did you mean "lazy"?',
      ],
    ],
    ['{ "exposure": { "mod": "auto" } }', ['unfold.json:1:17: exposure.mod is not a known key. Did you mean "mode"?']],
    [
      '{ "profiles": { "a": { "exposure": { "mode": "lasy" } } } }',
      [
        'unfold.json:1:46: profiles.a.exposure.mode must be one of "auto", "everything", "native", "groups", "lazy", "search", "code", not "lasy". Did you mean "lazy"?',
      ],
    ],
    ['{ "listen": { "port": 70000 } }', ['unfold.json:1:23: listen.port must be at most 65535.']],
    ['{ "listen": { "port": 1.5 } }', ['unfold.json:1:23: listen.port must be an integer, not 1.5.']],
    [
      '{ "store": { "kind": "sqlit" } }',
      ['unfold.json:1:22: store.kind must be one of "sqlite", "memory", not "sqlit". Did you mean "sqlite"?'],
    ],
    ['{ "store": {} }', ['unfold.json:1:12: store.kind is missing.']],
    ['{ "store": { "kind": "memory", "path": "x" } }', ['unfold.json:1:32: store.path is not allowed here. Remove it.']],
    [
      '{ "groups": { "a b": { "description": "x" } } }',
      [
        'unfold.json:1:15: groups["a b"] must be 1 to 55 letters, digits, underscores or hyphens, starting with a letter or digit.',
      ],
    ],
    [
      '{ "remember": "sesion" }',
      ['unfold.json:1:15: remember must be one of "session", "reconnect", "principal", not "sesion". Did you mean "session"?'],
    ],
    ['{ "serach": {} }', ['unfold.json:1:3: serach is not a known key. Did you mean "search"?']],
    ['{ "search": { "deadlinMs": 1 } }', ['unfold.json:1:15: search.deadlinMs is not a known key. Did you mean "deadlineMs"?']],
    ['{ "search": { "deadlineMs": 0 } }', ['unfold.json:1:29: search.deadlineMs must be at least 1.']],
    ['{ "search": { "embedder": "x" } }', ['unfold.json:1:27: search.embedder must be an object, not a string.']],
    [
      '{ "profiles": { "a": { "search": { "embeddings": {} } } } }',
      ['unfold.json:1:36: profiles.a.search.embeddings is not a known key. Did you mean "embedder"?'],
    ],
    [
      '{ "profiles": { "a": { "search": { "embedder": { "url": "http://x/", "api_key": "k" } } } } }',
      [
        'unfold.json:1:48: profiles.a.search.embedder.model is missing.',
        'unfold.json:1:70: profiles.a.search.embedder.api_key is not a known key. Did you mean "apiKey"?',
      ],
    ],
    [
      '{ "search": { "embedder": { "url": "${WHERE}", "model": "m", "apiKey": "${KEY}" } } }',
      [
        'unfold.json:1:36: search.embedder.url: WHERE is not set. Set it, or give it a default: ${WHERE:-value}.',
        'unfold.json:1:72: search.embedder.apiKey: KEY is not set. Set it, or give it a default: ${KEY:-value}.',
      ],
    ],
    ['[]', ['unfold.json:1:1 must be an object, not an array.']],
    ['', ['unfold.json:1:1 is empty. Write at least {}.']],
    ['{ "mcpServers": { "a": {', ['unfold.json:1:25 is not valid JSON: close brace expected.']],
    ['{ "exposure" "lazy" }', ['unfold.json:1:14 is not valid JSON: colon expected.']],
    ['{ "exposure": "lazy", "exposure": "auto" }', ['unfold.json:1:23: exposure is a duplicate key. Remove one of them.']],
    [
      '{ "mcpServers": { "__proto__": { "command": "x" } } }',
      ['unfold.json:1:19: mcpServers.__proto__ is not allowed as a key. Choose another name.'],
    ],
  ])('in %s has its location and a fix', (text, expected) => {
    expect(mistakes(text)).toEqual(expected)
  })

  test('does not hide other errors', () => {
    const text = `{
  "mcpServers": {
    "a": { "comand": "x", "args": [1] },
    "b": { "url": "http://x/", "headers": { "bad name": "v" } }
  },
  "exposure": 5,
  "results": { "maxCharacters": 1 }
}`
    expect(mistakes(text)).toEqual([
      'unfold.json:3:12: mcpServers.a.comand is not a known key. Did you mean "command"?',
      'unfold.json:3:36: mcpServers.a.args[0] must be a string, not 1.',
      'unfold.json:4:45: mcpServers.b.headers["bad name"] is not a valid header name.',
      'unfold.json:6:15: exposure must be one of "auto", "everything", "native", "groups", "lazy", "search", "code", not 5.',
      'unfold.json:7:33: results.maxCharacters must be at least 1000.',
    ])
  })

  test('after a byte order mark has the column that editors show', () => {
    expect(mistakes('\uFEFF{ "x": 1 }')[0]).toMatch(/^unfold\.json:1:3: x is not a known key\./u)
  })

  test('in deeply nested brackets is reported without recursion', () => {
    expect(mistakes('['.repeat(100_000))).toEqual(['unfold.json:1:1 is nested more than 50 levels deep.'])
  })

  test('any text is either accepted or rejected with located problems', () => {
    const key = fc.constantFrom(
      'mcpServers',
      'groups',
      'profiles',
      'tokens',
      'a',
      'command',
      'url',
      'tools',
      'store',
      'listen',
      'about',
      'description',
      'servers',
    )
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 5 },
        fc.jsonValue({ maxDepth: 1 }),
        fc.dictionary(key, tie('any'), { maxKeys: 4 }),
        fc.array(tie('any'), { maxLength: 3 }),
      ),
    })).any
    const text = fc.oneof(
      value.map((each) => JSON.stringify(each, null, 1)),
      fc.string({ unit: 'binary', maxLength: 80 }),
      fc
        .array(fc.constantFrom('{', '}', '[', ']', '"a"', ':', ',', '//', '/*', '\n', '1', 'null'))
        .map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(text, (each) => {
        const found = problems(each)
        expect(found === undefined || found.length > 0).toBe(true)
        expect(found?.filter(({ line, column, message }) => line < 1 || column < 1 || !/[.?]$/u.test(message)) ?? []).toEqual([])
      }),
      propertyRuns({ long: 400, sample: 80 }),
    )
  })
})

describe('an inconsistency between parts', () => {
  const server = { command: 'x' }
  test.each([
    [
      { mcpServers: { git: server }, groups: { code: { description: 'Code', servers: ['gti'] } } },
      'groups.code.servers[0] refers to the server "gti", which is not defined. Did you mean "git"?',
    ],
    [
      { mcpServers: { git: { ...server, group: 'cod' } }, groups: { code: { description: 'Code' } } },
      'mcpServers.git.group refers to the group "cod", which is not defined. Did you mean "code"?',
    ],
    [
      { groups: { a: { description: 'A', groups: ['b'] }, b: { description: 'B', groups: ['a'] } } },
      'groups.a.groups contains itself: a → b → a. Remove one of these.',
    ],
    [{ groups: { a: { description: 'A', groups: ['a'] } } }, 'groups.a.groups contains itself: a → a. Remove one of these.'],
    [
      {
        mcpServers: { git: server },
        groups: { a: { description: 'A', servers: ['git'] }, b: { description: 'B', servers: ['git'] } },
      },
      'groups.b.servers[0] is already in the group "a". Remove it from one of them.',
    ],
    [
      { mcpServers: { git: server }, groups: { git: { description: 'A' } } },
      'groups.git has the same name as the group of the server "git". Choose another name.',
    ],
    [{ mcpServers: { 'a b': server, a_b: server } }, 'mcpServers.a_b has the same tool prefix as "a b". Rename one of them.'],
    [
      { mcpServers: { a: { ...server, tools: { x: { name: 'go' } } }, b: { ...server, tools: { y: { name: 'go' } } } } },
      'mcpServers.b.tools.y.name is already the name of a.tools.x. Choose another name.',
    ],
    [
      { mcpServers: { a: { ...server, tools: { x: { name: 'a__x' } } } } },
      'mcpServers.a.tools.x.name must not contain "__", which separates server and tool.',
    ],
    [
      { mcpServers: { a: { ...server, tools: { x: { name: 'search_tooIs' } } } } },
      'mcpServers.a.tools.x.name is reserved for the gateway, or too similar to a reserved name.',
    ],
    [
      { mcpServers: { a: { ...server, tools: { x: { name: 'activate_a' } } } } },
      'mcpServers.a.tools.x.name is reserved for the gateway, or too similar to a reserved name.',
    ],
    [
      { search: { embedder: { url: 'ftp://x', model: 'm' } } },
      'search.embedder.url must be an http:// or https:// URL without credentials.',
    ],
    [
      { profiles: { a: { search: { embedder: { url: 'https://me:pw@x.example', model: 'm' } } } } },
      'profiles.a.search.embedder.url must be an http:// or https:// URL without credentials.',
    ],
    [
      { search: { embedder: { url: 'https://x.example', model: 'm', apiKey: 'a b' } } },
      'search.embedder.apiKey contains characters that are not allowed in an HTTP header, such as a space or a line break.',
    ],
    [{ profiles: { s: {} } }, 'profiles.s is reserved for /mcp/s/<server>. Rename the profile.'],
    [{ profiles: { home: { servers: ['x'] } } }, 'profiles.home.servers[0] refers to the server "x", which is not defined.'],
    [
      { tokens: [{ name: 'me', hash: `sha256:${'0'.repeat(64)}`, profile: 'x' }] },
      'tokens[0].profile refers to the profile "x", which is not defined.',
    ],
    [{ tokens: [{ name: 'me', hash: 'secret' }] }, 'tokens[0].hash must be "sha256:" followed by 64 hexadecimal digits.'],
    [
      { listen: { host: '0.0.0.0' } },
      'listen.host is reachable from other machines, but no client token is configured. Add one (unfold token add <name>), or listen on 127.0.0.1.',
    ],
  ])('is reported: %j', (value, expected) => {
    const found = mistakes(json(value))
    expect(found.map((line) => line.replace(/^unfold\.json:\d+:\d+:? /u, ''))).toEqual([expected])
  })

  test('is not reported if a server names its group and the group names the server', () => {
    expect(
      mistakes(json({ mcpServers: { git: { ...server, group: 'a' } }, groups: { a: { description: 'A', servers: ['git'] } } })),
    ).toEqual([])
  })

  test.each(['127.0.0.1', 'localhost', '::1', '[::1]', '127.1.2.3'])('is not reported if it listens on %s', (host) => {
    expect(mistakes(json({ listen: { host } }))).toEqual([])
  })
})

describe('the deprecated key "about"', () => {
  test('is read as "description" of servers and groups', () => {
    const { config } = read(
      json({
        mcpServers: { git: { command: 'x', about: 'Versions' } },
        groups: { code: { about: 'Code', servers: ['git'] } },
      }),
    )
    expect(config.mcpServers.git).toMatchObject({ description: 'Versions' })
    expect(config.groups.code).toMatchObject({ description: 'Code' })
  })

  test('is an error next to "description"', () => {
    expect(mistakes('{ "mcpServers": { "git": { "command": "x", "about": "A", "description": "B" } } }')).toEqual([
      'unfold.json:1:44: mcpServers.git.about is not a known key. Did you mean "description"?',
    ])
  })
})

describe('variables', () => {
  const one = (command: string) => json({ mcpServers: { git: { command } } })
  const commandOf = (text: string, environment: Record<string, string>): unknown => {
    const { git } = read(one(text), environment).config.mcpServers
    return git !== undefined && 'command' in git ? git.command : undefined
  }

  test.each([
    ['${A}', 'x'],
    ['${env:A}-${A}', 'x-x'],
    ['${NO:-else}', 'else'],
    ['${EMPTY:-else}', 'else'],
    ['a${EMPTY}b', 'ab'],
    ['$${A}', '${A}'],
    ['pa$$word$', 'pa$$word$'],
    ['${TRICK}', '${A}'],
  ])('in %s expand to %s', (text, expected) => {
    expect(commandOf(text, { A: 'x', EMPTY: '', TRICK: '${A}' })).toBe(expected)
  })

  test.each([
    ['${NO}', 'NO is not set. Set it, or give it a default: ${NO:-value}.'],
    ['${toString}', 'toString is not set. Set it, or give it a default: ${toString:-value}.'],
    ['${input:key}', 'contains ${input:key}, which is not supported here. Write ${NAME} or ${NAME:-default}.'],
    ['${A', 'contains an unterminated or nested "${". Write ${NAME} or ${NAME:-default}, or $${ for a literal "${".'],
    ['${A:-${B}}', 'contains an unterminated or nested "${". Write ${NAME} or ${NAME:-default}, or $${ for a literal "${".'],
  ])('that are invalid, as in %s, disable their server with its name and field, and no other', (text, message) => {
    const { config, notStarted } = read(
      json({ mcpServers: { git: { command: 'a', args: [text] }, other: { command: 'b' } } }),
      {},
    )
    expect(Object.keys(config.mcpServers)).toEqual(['other'])
    expect(notStarted.get('git')?.[0]).toMatchObject({ path: 'mcpServers.git.args[0]', line: 6, message })
  })

  test('that refer to secrets expand to nothing without a lookup, and are rejected where others could see them', () => {
    const text = json({
      mcpServers: {
        web: { url: '${keyring:url}', headers: { Authorization: 'Bearer ${file:a}' } },
        git: { command: '${command:x}', args: ['${keyring:x}'], env: { A: '${keyring:x}' } },
        off: { command: 'x', env: { A: '${command:never}' }, disabled: true },
      },
    })
    const unresolved = read(text)
    expect(unresolved.config.mcpServers.web).toMatchObject({ url: '', headers: { Authorization: 'Bearer ' } })
    expect([...unresolved.notStarted.keys()]).toEqual(['git'])
    expect(unresolved.notStarted.get('git')?.map(({ path }) => path)).toEqual([
      'mcpServers.git.command',
      'mcpServers.git.args[0]',
    ])
    expect(unresolved.secrets).toEqual([])

    const asked: string[] = []
    const resolved = parseConfig(text, {
      file: 'unfold.json',
      environment: {},
      secrets: ({ text: reference }) => {
        asked.push(reference)
        return { value: reference === '${file:a}' ? 'two\nlines' : 'https://example.com/${A}' }
      },
    })
    expect(asked).toEqual(['${keyring:url}', '${file:a}', '${keyring:x}'])
    expect(resolved.notStarted.get('web')?.[0]).toMatchObject({
      path: 'mcpServers.web.headers.Authorization',
      message: expect.stringContaining('contains a line break'),
    })
    expect(resolved.secrets).toEqual(['https://example.com/${A}', 'two\nlines', 'https://example.com/${A}'])
  })

  test('of a disabled server are not checked', () => {
    const { config, notStarted } = read(json({ mcpServers: { git: { url: '${NO}', disabled: true } } }))
    expect(Object.keys(config.mcpServers)).toEqual(['git'])
    expect(notStarted.size).toBe(0)
  })

  test('are expanded in URLs, headers, folders and variables of a server, and nowhere else', () => {
    const { config } = read(
      json({
        mcpServers: {
          web: { url: 'https://${A}/', headers: { K: '${A}' }, description: '${A}' },
          git: { command: 'x', cwd: '${A}', env: { V: '${A}' } },
        },
        store: { kind: 'sqlite', path: '${A}.db' },
      }),
      { A: 'a' },
    )
    expect(config.mcpServers.web).toMatchObject({ url: 'https://a/', headers: { K: 'a' }, description: '${A}' })
    expect(config.mcpServers.git).toMatchObject({ cwd: 'a', env: { V: 'a' } })
    expect(config.store).toEqual({ kind: 'sqlite', path: 'a.db' })
  })
})

describe('a file', () => {
  test('is read', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'unfold-config-'))
    try {
      const path = join(folder, 'unfold.json')
      await writeFile(path, '{ "exposure": "lazy" }')
      expect((await readConfig(path, {})).config.exposure).toBe('lazy')
      await expect(readConfig(folder, {})).rejects.toThrow('is a folder. Specify the file in it.')
      await expect(readConfig(join(folder, 'no.json'), {})).rejects.toThrow('does not exist. Create it, or specify another file.')
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
