import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Tool } from '@unfold-mcp/core'
import { describe, expect, test } from 'vitest'
import { type CompletionFolders, completionCache, completionFolders, refreshToolIndexes } from './cache.ts'
import { type CompletionCache, complete } from './complete.ts'
import { splitLine } from './line.ts'
import { completionResponse } from './response.ts'
import { scripts } from './scripts.ts'

const createIssue: Tool = {
  name: 'create_issue',
  description: 'Open an issue.\nWith a title.',
  inputSchema: {
    type: 'object',
    properties: {
      title: { type: 'string', description: 'What it is about' },
      state: { enum: ['open', 'closed', 'in progress'], description: 'Its state' },
      labels: { type: 'array', items: { enum: ['bug', 'ui'] } },
      draft: { type: 'boolean' },
      user: { type: 'object', properties: { name: { type: 'string' } } },
      json: { type: 'boolean' },
      level: {
        anyOf: [
          { const: 1, title: 'Now' },
          { const: 2, title: 'Later' },
        ],
      },
      mode: { anyOf: [{ enum: ['auto'] }, { type: 'integer' }] },
    },
    required: ['title'],
  },
}

const cache: CompletionCache = {
  servers: {
    github: {
      tools: [
        createIssue,
        { name: 'close_issue', title: 'Close', inputSchema: { type: 'object' } },
        { name: 'bad\u001b[2J\nname', inputSchema: { type: 'object' } },
      ],
    },
    gitlab: { tools: [] },
  },
  upstreams: async () => ['desk', 'files'],
}

async function valuesOf(...words: readonly string[]): Promise<readonly string[]> {
  const { candidates } = await complete({ words, cursor: words.length - 1, cache })
  return candidates.map(({ value }) => value)
}

test('short flags do not count as positional arguments', async () => {
  expect(await valuesOf('list', '-q', 'gi')).toEqual(['github', 'gitlab'])
  expect(await valuesOf('call', '-qy', 'github', 'clo')).toEqual(['close_issue'])
  expect(await valuesOf('-q', 'call', 'github', 'clo')).toEqual(['close_issue'])
})

describe('the first word', () => {
  test('is a command or a server', async () => {
    expect(await valuesOf('')).toEqual(expect.arrayContaining(['call', 'list', 'identity', 'github', 'gitlab']))
    expect(await valuesOf('gi')).toEqual(['github', 'gitlab'])
    expect(await valuesOf('ca')).toEqual(['call'])
    expect(await valuesOf('help', 'cal')).toEqual(['call'])
  })

  test('is a flag if it begins with a dash', async () => {
    expect(await valuesOf('--ver')).toEqual(['--version'])
    expect(await valuesOf('--he')).toEqual(['--help'])
  })

  test('has a description', async () => {
    const { candidates } = await complete({ words: ['cal'], cursor: 0, cache })
    expect(candidates[0]?.description).toMatch(/^Call a tool/u)
  })
})

test('servers of the gateway are completed where expected', async () => {
  expect(await valuesOf('remove', '')).toEqual(['desk', 'files'])
  expect(await valuesOf('status', 'f')).toEqual(['files'])
  expect(await valuesOf('logs', '--upstream', 'd')).toEqual(['desk'])
  expect(await valuesOf('remove', 'desk', '')).toEqual([])
  expect(await valuesOf('remove', '--dr')).toEqual(['--dry-run'])
})

describe('a server and a tool', () => {
  test('come after the command', async () => {
    expect(await valuesOf('call', 'git')).toEqual(['github', 'gitlab'])
    expect(await valuesOf('call', 'github', 'c')).toEqual(['create_issue', 'close_issue'])
    expect(await valuesOf('describe', 'github', 'cl')).toEqual(['close_issue'])
    expect(await valuesOf('list', 'github', 'c')).toEqual([])
    expect(await valuesOf('list', '--js')).toEqual(['--json', '--jsonl'])
  })

  test('work without a command', async () => {
    expect(await valuesOf('github', 'cr')).toEqual(['create_issue'])
  })

  test('may follow our own flags and their values', async () => {
    expect(await valuesOf('call', '--json', '--timeout', '5', '--config=x', 'github', 'cr')).toEqual(['create_issue'])
  })

  test('have the first line of their description, safe for a terminal', async () => {
    const { candidates } = await complete({ words: ['call', 'github', 'c'], cursor: 2, cache })
    expect(candidates).toEqual([
      { value: 'create_issue', description: 'Open an issue.' },
      { value: 'close_issue', description: 'Close' },
    ])
  })

  test('are skipped if a name would break a line', async () => {
    expect(await valuesOf('call', 'github', 'bad')).toEqual([])
  })

  test('are empty for an unknown server', async () => {
    expect(await valuesOf('call', 'nowhere', '')).toEqual([])
    expect(await valuesOf('call', '__proto__', '')).toEqual([])
    expect(await valuesOf('call', 'github', 'nothing', '')).toEqual([])
  })

  test('start with the tool if a server is set', async () => {
    const preset = { ...cache, defaultServer: 'github' }
    const { candidates } = await complete({ words: ['call', 'cr'], cursor: 1, cache: preset })
    expect(candidates.map(({ value }) => value)).toEqual(['create_issue'])
    expect(await valuesOf('call', '--server', 'github', 'cr')).toEqual(['create_issue'])
    expect(await valuesOf('call', '--server=github', 'create_issue', '--ti')).toEqual(['--title', '--timeout'])
    expect(await valuesOf('call', '--server', 'gitl')).toEqual(['gitlab'])
  })
})

describe('the arguments of a tool', () => {
  const after = (...words: readonly string[]): Promise<readonly string[]> => valuesOf('call', 'github', 'create_issue', ...words)

  test('are its flags, required ones first, and ours after a dash', async () => {
    expect(await after('')).toEqual([
      '--title',
      '--state',
      '--labels',
      '--draft',
      '--user.name',
      '--arg:json',
      '--level',
      '--mode',
    ])
    expect(await after('--t')).toEqual(['--title', '--timeout'])
    expect(await after('--us')).toEqual(['--user.name'])
  })

  test('are offered once, except for lists', async () => {
    expect(await after('--title', 'x', 'state=open', '--no-draft', '--labels', 'bug', '--')).toEqual(
      expect.not.arrayContaining(['--title', '--state', '--draft']),
    )
    expect(await after('--labels', 'bug', '--la')).toEqual(['--labels'])
  })

  test('can be negated', async () => {
    expect(await after('--no-d')).toEqual(['--no-draft'])
  })

  test('have the values of the schema', async () => {
    expect(await after('--state', '')).toEqual(['open', 'closed', 'in progress'])
    expect(await after('--state=c')).toEqual(['--state=closed'])
    expect(await after('state=o')).toEqual(['state=open'])
    expect(await after('--labels', 'b')).toEqual(['bug'])
    expect(await after('--draft=')).toEqual(['--draft=true', '--draft=false'])
    expect(await after('--arg:json=f')).toEqual(['--arg:json=false'])
    expect(await after('--mode', '')).toEqual(['auto'])
    expect(await after('--level', '')).toEqual(['1', '2'])
    expect(await after('--title', '')).toEqual([])
    expect(await after('state:=')).toEqual([])
    expect(await after('nothing=')).toEqual([])
    expect(await after('--draft', '--st')).toEqual(['--state'])
  })

  test('have descriptions', async () => {
    const { candidates } = await complete({ words: ['github', 'create_issue', '--t'], cursor: 2, cache })
    expect(candidates[0]).toEqual({ value: '--title', description: 'required: What it is about' })
    const levels = await complete({ words: ['github', 'create_issue', '--level', ''], cursor: 3, cache })
    expect(levels.candidates[0]).toEqual({ value: '1', description: 'Now' })
  })

  test('are limited in number', async () => {
    const properties = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`p${index}`, {}]))
    const wide = { servers: { s: { tools: [{ name: 't', inputSchema: { type: 'object' as const, properties } }] } } }
    expect((await complete({ words: ['s', 't', '--'], cursor: 2, cache: wide })).candidates).toHaveLength(1_000)
  })
})

describe('files', () => {
  test.each([
    ['after --', ['call', 'x', '--', 'node', '']],
    ['for a flag of ours that wants one', ['list', '--config', '']],
    ['for a folder', ['plugins', 'serve', '']],
  ])('are completed by the shell %s', async (_, words) => {
    expect(await complete({ words, cursor: words.length - 1, cache })).toEqual({ candidates: [], files: true })
  })

  test('are not offered elsewhere', async () => {
    expect(await valuesOf('completion', '')).toEqual(['bash', 'zsh', 'fish'])
    expect(await valuesOf('plugins', '')).toEqual(['serve'])
    expect(await valuesOf('identity', '--basis', '')).toEqual(['definitions', 'names'])
    expect(await valuesOf('call', '--timeout', '')).toEqual([])
  })
})

describe('the response to a shell', () => {
  test('has one candidate per line, with its description', async () => {
    expect(await completionResponse(['fish', '1', 'github', 'c'], cache)).toBe(
      'words\ncreate_issue\tOpen an issue.\nclose_issue\tClose\n',
    )
    expect(await completionResponse(['zsh', '2', 'x', '--', ''], cache)).toBe('files\n')
    expect(await completionResponse([], cache)).toMatch(/^words\n/u)
  })

  test('for bash is the piece that bash replaces, escaped unless quoted', async () => {
    const ask = (line: string, piece: string): Promise<string> => completionResponse(['bash', line, piece], cache)
    expect(await ask('unfold github create_issue --state=c', 'c')).toBe('words\nclosed\n')
    expect(await ask('unfold github create_issue --state=', '')).toBe('words\nopen\nclosed\nin\\ progress\n')
    expect(await ask('unfold github create_issue --state "in ', 'in ')).toBe('words\nin progress\n')
    expect(await ask('unfold github create_issue --title é --sta', '--sta')).toBe('words\n--state\n')
    expect(await ask('unfold github create_issue --arg:j', 'j')).toBe('words\njson\n')
    expect(await ask('unfold github create_issue --state=c', 'unexpected')).toBe('words\nclosed\n')
  })
})

describe('an incomplete line', () => {
  test.each<[string, readonly string[], string]>([
    ['', [''], ''],
    ['unfold ', ['unfold', ''], ''],
    ['unfold  a\tb', ['unfold', 'a', 'b'], ''],
    [`a 'b c' "d \\"e" f\\ g`, ['a', 'b c', 'd "e', 'f g'], ''],
    [`a 'b c`, ['a', 'b c'], "'"],
    ['a "b c', ['a', 'b c'], '"'],
    [`a ""`, ['a', ''], ''],
    ['a "b\\n"', ['a', 'b\\n'], ''],
    ['a b\\', ['a', 'b'], ''],
  ])('%j is %j', (line, words, quote) => {
    expect(splitLine(line)).toEqual({ words, quote })
  })
})

describe('the cache on disk', () => {
  const entry = (name: string, tools: unknown): string =>
    JSON.stringify({ format: 'unfold-tool-cache', version: 1, name, view: '', tools })

  async function cached(files: { readonly [name: string]: string }): Promise<CompletionFolders & AsyncDisposable> {
    const data = await mkdtemp(join(tmpdir(), 'completion-'))
    const folders = completionFolders(data)
    await mkdir(folders.tools, { recursive: true })
    for (const [name, text] of Object.entries(files)) await writeFile(join(folders.tools, name), text)
    return { ...folders, [Symbol.asyncDispose]: () => rm(data, { recursive: true, maxRetries: 10, retryDelay: 100 }) }
  }

  test('provides names immediately and tools on demand, and skips unreadable files', async () => {
    await using folders = await cached({
      'github.1.json': entry('github', [createIssue, null, { name: 7 }]),
      'github.2.json': entry('github', [{ name: 'other', inputSchema: {} }]),
      'odd.json': entry('od"d', 'no list'),
      'broken.json': '{"format":"unfold-tool-cache","version":1,"name":"broken","tools":[',
      'newer.json': '{"format":"unfold-tool-cache","version":2,"name":"newer"}',
      'empty.json': '',
      'draft.tmp': entry('draft', []),
    })
    await mkdir(join(folders.tools, 'folder.json'))
    const { servers } = completionCache(folders)
    expect(Object.keys(servers)).toEqual(['broken', 'github', 'od"d'])
    expect(servers.github?.tools.map(({ name }) => name)).toEqual(['create_issue', 'other'])
    expect(servers.broken?.tools).toEqual([])
    expect(servers['od"d']?.tools).toEqual([])
    expect(completionCache(completionFolders('/nowhere'), { defaultServer: 'x' })).toEqual({ servers: {}, defaultServer: 'x' })
  })

  test('gives the same results from an index as from schemas', async () => {
    await using folders = await cached({ 'github.1.json': entry('github', [...(cache.servers.github?.tools ?? [])]) })
    const lines = [
      'gi',
      'github c',
      'github create_issue ',
      'github create_issue --no-',
      'github create_issue --state ',
      'github bad',
    ]
    const answersOf = (): Promise<readonly string[]> =>
      Promise.all(
        lines.map((line) =>
          completionResponse(['bash', `unfold ${line}`, line.split(' ').at(-1) ?? ''], completionCache(folders)),
        ),
      )
    const file = join(folders.tools, 'github.1.json')
    await utimes(file, 1_000, 1_000)
    const before = await answersOf()
    await refreshToolIndexes(folders)
    expect(await readdir(folders.indexes)).toEqual(['github.1.json.txt'])
    // Without the right schemas in the file, a result can only come from the index.
    await writeFile(file, (await readFile(file, 'utf8')).replaceAll('"enum"', '"xxxx"').replaceAll('"boolean"', '"strings"'))
    await utimes(file, 1_000, 1_000)
    expect(await answersOf()).toEqual(before)
  })

  test('does not use an outdated index, and rebuilds it', async () => {
    await using folders = await cached({ 'a.json': entry('a', [createIssue]), 'b.json': entry('b', []) })
    await refreshToolIndexes(folders)
    await writeFile(join(folders.tools, 'a.json'), entry('a', [{ name: 'newer', inputSchema: {} }]))
    await rm(join(folders.tools, 'b.json'))
    const namesIn = (): readonly (string | undefined)[] => completionCache(folders).servers.a?.tools.map(({ name }) => name) ?? []
    expect(namesIn()).toEqual(['newer'])
    await refreshToolIndexes(folders)
    expect(namesIn()).toEqual(['newer'])
    expect(await readdir(folders.indexes)).toEqual(['a.json.txt'])
  })

  test('works if indexes cannot be written', async () => {
    await using folders = await cached({ 'a.json': entry('a', [createIssue]) })
    await writeFile(folders.indexes, 'a file where the folder should be')
    await refreshToolIndexes(folders)
    expect(completionCache(folders).servers.a?.tools).toHaveLength(1)
  })
})

test('scripts accept only plain names', () => {
  expect(scripts.bash('my-tool')).toContain('complete -o default -o bashdefault -F _my_tool_complete my-tool')
  expect(() => scripts.fish('a; rm -rf /')).toThrow('cannot be the name of a command')
})

test('preview completes servers, hosts and eras', async () => {
  expect(await valuesOf('prev')).toEqual(['preview'])
  expect(await valuesOf('preview', 'gith')).toEqual(['github'])
  expect(await valuesOf('preview', '--host', 'co')).toEqual(['codex', 'copilot-cli', 'continue'])
  expect(await valuesOf('preview', '--era', '')).toEqual(['session', '2026-07-28', 'both'])
})
