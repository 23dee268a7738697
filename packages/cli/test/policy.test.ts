import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from '@unfold-mcp/client'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { until } from '../../client/test/processes.ts'
import { type Home, home, servers } from './command.ts'
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts'

// Each test starts several processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const reason = 'Only the project may be changed.'

// The server may use the whole folder, so that only the policy protects the rest of it.
describe.skipIf(process.platform === 'win32')('a policy for a filesystem server', () => {
  let at: Home
  let gateway: GatewayProcess
  const [command = '', ...args] = servers.files('.')

  const policy = (): { rules: object[] } => ({
    rules: [
      { effect: 'deny', tool: 'create_directory' },
      { effect: 'allow', tool: ['read_*', 'write_file', 'list_directory'], path: { argument: 'path', inside: ['data'] } },
      { effect: 'ask', tool: 'move_file', reason: 'Moving loses files.' },
      { effect: 'deny', server: 'files', reason },
    ],
  })
  const config = (rules: object = policy()): object => ({
    reload: 'always',
    mcpServers: { files: { command, args: [...args.slice(0, -1), at.folder] } },
    exposure: 'everything',
    audit: { path: 'audit.jsonl', arguments: 'full' },
    policy: rules,
  })
  // Not joined, because that would remove `..`.
  const data = (path: string): string => `${at.folder}/data/${path}`
  const secret = (path: string): string => `${at.folder}/private/${path}`

  beforeAll(async () => {
    at = await home()
    await mkdir(data('sub'), { recursive: true })
    await mkdir(secret('deep'), { recursive: true })
    await writeFile(secret('key'), 'the secret key')
    await writeFile(data('note.txt'), 'a note')
    await symlink(secret(''), data('out'))
    await symlink(secret('deep'), data('deep'))
    await symlink(secret('new'), data('dangling'))
    gateway = await startGatewayProcess(at, config())
    await using client = await connect({ url: gateway.url })
    await until(async () => (await client.tools()).some(({ name }) => name === 'files__write_file'), 'the server is ready')
  })
  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]()
    await at?.[Symbol.asyncDispose]()
  })

  async function call(
    tool: string,
    input: Record<string, unknown>,
    url = gateway.url,
  ): Promise<{ text: string; isError: boolean }> {
    await using client = await connect({ url })
    const { content, isError } = await client.call(tool, input)
    return { text: content.map((block) => (block.type === 'text' ? block.text : '')).join('\n'), isError }
  }

  test('AT-S06-1 (Q01): no spelling of a path gets past the folder of a rule', async () => {
    expect(await call('files__read_text_file', { path: data('note.txt') })).toEqual({ text: 'a note', isError: false })
    expect(await call('files__write_file', { path: data('new.txt'), content: 'x' })).toMatchObject({ isError: false })
    const paths = [
      ...[
        secret('key'),
        data('../private/key'),
        data('out/key'),
        data('sub/../../private/key'),
        data('missing/../../private/key'),
      ],
      ...[data('%2e%2e/private/key'), data('..%2fprivate%2fkey'), data('%252e%252e/private/key'), data('..\\private\\key')],
      ...[data('．．/private/key'), data('..／private/key'), data('.. /private/key'), `file://${secret('key')}`, '~/private/key'],
      ...[
        'private/key',
        './private/key',
        `/proc/self/root${secret('key')}`,
        data('note.txt\0/../../private/key'),
        data('deep/../key'),
      ],
      ...[`${at.folder}/DATA/../private/key`, `${at.folder}//data//..//private//key`, data('dangling'), '', ' '],
    ]
    await using client = await connect({ url: gateway.url })
    for (const path of paths)
      for (const tool of ['files__read_text_file', 'files__write_file']) {
        const { content, isError } = await client.call(tool, { path, ...(tool.endsWith('write_file') && { content: 'changed' }) })
        expect({ path, content, isError }).toEqual({
          path,
          isError: true,
          content: [
            {
              type: 'text',
              text: expect.stringContaining(
                `was not called: the rule policy.rules[3] denies it. Do not repeat it with these arguments. Reason: ${reason}`,
              ),
            },
          ],
        })
      }
    expect(await readFile(secret('key'), 'utf8')).toBe('the secret key')
    expect(await readdir(secret(''))).toEqual(['deep', 'key'])
  })

  test('AT-S06-2 (Q03): every route to a tool passes the policy, in both eras', async () => {
    const target = secret('key')
    const routes: readonly (readonly [string, string, Record<string, unknown>])[] = [
      ['', 'files__read_text_file', { path: target }],
      ['?exposure=search', 'call_tool', { name: 'files__read_text_file', arguments: { path: target } }],
      ['?exposure=lazy', 'files__read_text_file', { path: target }],
      ['/s/files', 'read_text_file', { path: target }],
      ['', 'files__read_multiple_files', { paths: [data('note.txt'), target] }],
    ]
    for (const [suffix, tool, input] of routes)
      for (const protocol of ['session', '2026-07-28'] as const) {
        await using client = await connect({ url: `${gateway.url}${suffix}` }, { protocol })
        const { content, isError } = await client.call(tool, input, { unlisted: true })
        expect({ suffix, isError, text: JSON.stringify(content) }).toEqual({
          suffix,
          isError: true,
          text: expect.stringContaining('was not called: the rule policy.rules[3] denies it.'),
        })
        expect(JSON.stringify(content)).not.toContain('the secret key')
      }
  })

  test('AT-S06-3 (Q04): a tool that is denied with any arguments is not listed, and other tools stay listed', async () => {
    for (const suffix of ['', '/s/files']) {
      await using client = await connect({ url: `${gateway.url}${suffix}` })
      const names = (await client.tools()).map(({ name }) => name.replace(/^files__/u, ''))
      expect(names).toEqual(expect.arrayContaining(['read_text_file', 'write_file', 'move_file']))
      expect(names).not.toContain('create_directory')
      expect(names).not.toContain('edit_file')
    }
    await using client = await connect({ url: gateway.url })
    await expect(client.call('files__create_directory', { path: data('x') })).rejects.toThrow('Unknown tool')
    expect(existsSync(data('x'))).toBe(false)
  })

  test('AT-S06-4 (Q06): unfold policy test explains the decision of each rule, and calls nothing', async () => {
    const explained = async (...given: readonly string[]) => {
      const { stdout, stderr, code } = await at.unfold(['policy', 'test', ...given, '--json'])
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      return JSON.parse(stdout) as { verdict: object; rules: readonly object[]; isListed: boolean }
    }
    const written = await explained('files__write_file', JSON.stringify({ path: data('%2e%2e/private/key'), content: '' }))
    expect(written.verdict).toEqual({ effect: 'deny', rule: 'policy.rules[3]', reason })
    expect(written.rules[1]).toEqual({
      rule: 'policy.rules[1]',
      effect: 'allow',
      applies: false,
      conditions: [
        { condition: 'tool', outcome: 'yes', detail: 'write_file' },
        { condition: 'path', outcome: 'unknown', detail: expect.stringContaining('private/key: unknown') },
      ],
    })
    expect(await explained('files__create_directory')).toMatchObject({ verdict: { effect: 'deny' }, isListed: false })
    const { stdout } = await at.unfold(['policy', 'test', 'files__write_file', JSON.stringify({ path: data('a') })])
    expect(stdout).toContain('policy.rules[1] allow applies')
    expect(stdout).toContain('files/write_file: allowed by policy.rules[1]')
    expect(await at.unfold(['policy', 'test', 'files__write_file', '[]'])).toMatchObject({ code: 2 })
    expect((await at.unfold(['policy', 'test', 'fils__write_file'])).stderr).toContain('files__write_file')
  })

  test('AT-S06-5 (Q07): unfold policy suggest proposes a policy that allows what was called', async () => {
    const { stdout, stderr, code } = await at.unfold(['policy', 'suggest', '--json'])
    expect({ code, stderr: stderr.includes('review the rules') }).toEqual({ code: 0, stderr: true })
    const suggested = JSON.parse(stdout) as {
      policy: { rules: readonly { effect: string; tool?: readonly string[]; path?: object }[] }
    }
    expect(suggested.policy.rules).toEqual([
      {
        effect: 'allow',
        server: 'files',
        tool: ['read_text_file', 'write_file'],
        path: { argument: ['path'], inside: [join(at.folder, 'data')] },
      },
      { effect: 'ask', reason: expect.any(String), annotations: { destructive: true } },
    ])
  })

  test('AT-S06-6 (Q08): a change applies to the next call, an invalid one to none, and both are recorded', async () => {
    const file = join(at.folder, 'unfold.json')
    await writeFile(
      file,
      JSON.stringify(config({ rules: [{ effect: 'deny', tool: 'read_*', arguments: { patern: 'x' } }] }), undefined, 1),
    )
    const rejected = await at.unfold(['reload'])
    expect(rejected.code).not.toBe(0)
    expect(rejected.stderr).toMatch(
      /unfold\.json:\d+:\d+: policy\.rules\[0\]\.arguments\.patern is not a known key\. Did you mean "pattern"\?/u,
    )
    expect(await call('files__read_text_file', { path: data('note.txt') })).toMatchObject({ isError: false })
    await writeFile(
      file,
      JSON.stringify(config({ rules: [{ effect: 'deny', tool: 'read_*', path: { argument: 'path', inside: ['data'] } }] })),
    )
    expect(await at.unfold(['reload'])).toMatchObject({ code: 0 })
    const { text } = await call('files__read_text_file', { path: data('note.txt') })
    expect(text).toContain('was not called: the rule policy.rules[0] denies it.')
    expect(await call('files__read_text_file', { path: secret('key') })).toMatchObject({ isError: false })
    const records = async (...filter: readonly string[]) =>
      (JSON.parse((await at.unfold(['audit', '--json', '--limit', '1000', ...filter])).stdout) as { records: readonly object[] })
        .records
    expect(await records('--outcome', 'denied')).toContainEqual(
      expect.objectContaining({ upstream: 'files', tool: 'read_text_file', outcome: 'denied', rule: 'policy.rules[0]' }),
    )
    const [change, ...others] = await records('--type', 'policy')
    expect(others).toEqual([])
    expect(change).toMatchObject({
      outcome: 'changed',
      before: expect.stringMatching(/^[0-9a-f]{64}$/u),
      after: expect.any(String),
    })
    expect((await at.unfold(['audit', 'verify'])).code).toBe(0)
  })
})
