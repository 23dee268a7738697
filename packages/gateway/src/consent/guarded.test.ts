import { expect, test } from 'vitest'
import { type Config, configSchema } from '../config/schema.ts'
import { describeEdit } from './edit.ts'
import { approvedAfter, permitted } from './guarded.ts'

const config = (value: object): Config => configSchema.parse(value)
const git = { command: 'git-mcp', args: ['--all'], env: { TOKEN: 'a' } }
const hash = (digit: string): string => `sha256:${digit.repeat(64)}`
const base = {
  mcpServers: { git, web: { url: 'https://web.example/mcp', headers: { 'X-Key': 'a' } } },
  tokens: [
    { name: 'ann', hash: hash('a'), profile: 'work' },
    { name: 'bob', hash: hash('b') },
  ],
  profiles: { work: { servers: ['git'] }, free: {} },
  trust: 'watch',
}

const waiting = (edited: object, approved: object = base): readonly string[] =>
  permitted(config(approved), config({ ...approved, ...edited })).waiting.map(({ path }) => path.join('.'))
const server = (edited: object): object => ({ mcpServers: { ...base.mcpServers, git: { ...git, ...edited } } })

test('AT-S11-1: whatever a server runs or reaches waits, and so does everything that limits it', () => {
  const edits = [
    { command: 'sh' },
    { args: [] },
    { env: { TOKEN: 'a', NODE_OPTIONS: '--require ./x.js' } },
    { env: { TOKEN: `\${command:sh -c id}` } },
    { cwd: '/' },
    { processes: 'group' },
    { placement: 'one' },
    { sandbox: 'none' },
    { sandbox: { preset: 'files', write: ['/'] } },
    { trust: 'off' },
    { allow: undefined, tools: { a: { enabled: true } } },
  ]
  for (const edit of edits)
    expect([JSON.stringify(edit), waiting(server(edit))]).toEqual([JSON.stringify(edit), ['mcpServers.git']])
  expect(waiting({ mcpServers: { ...base.mcpServers, more: git } })).toEqual(['mcpServers.more'])
  for (const edit of [{ url: 'https://evil.example' }, { headers: {} }, { type: 'sse' }])
    expect(waiting({ mcpServers: { git, web: { ...base.mcpServers.web, ...edit } } })).toEqual(['mcpServers.web'])
})

test('AT-S15-33 (Y51): what scripts are granted, where they come from and how they are reviewed waits', () => {
  const approved = { ...base, scripts: { grants: { report: ['git__log'] } } }
  for (const scripts of [
    { grants: { report: ['git__*'] } },
    { ...approved.scripts, trust: 'off' },
    { ...approved.scripts, folder: '/tmp' },
  ])
    expect(waiting({ scripts }, approved)).toEqual(['scripts'])
  expect(waiting({ scripts: { grants: { other: ['git__log'] } } })).toEqual(['scripts'])
  expect(waiting({ scripts: approved.scripts }, approved)).toEqual([])
})

test('AT-S11-2: settings that protect wait if they become weaker, and a key that is not known to be harmless waits', () => {
  const edits = {
    trust: 'off',
    sandbox: 'files',
    processes: 'group',
    reload: 'always',
    listen: { host: '127.0.0.1', allowedOrigins: ['https://evil.example'] },
    tokens: [...base.tokens, { name: 'eve', hash: hash('e'), role: 'admin' }],
    store: { kind: 'memory' },
    audit: { path: 'elsewhere.jsonl' },
    limits: { callsPerMinute: 1_000_000 },
    search: { embedder: { url: 'https://evil.example/v1', model: 'm' } },
    groups: { all: { description: 'All', servers: ['web'] } },
  }
  for (const [key, value] of Object.entries(edits)) expect([key, waiting({ [key]: value })]).toEqual([key, [key]])
  expect(waiting({ profiles: { ...base.profiles, work: {} } })).toEqual(['profiles.work'])
  expect(waiting({ profiles: { ...base.profiles, free: { search: edits.search } } })).toEqual(['profiles.free'])
  // Without client tokens, everybody on this machine would be admitted.
  expect(waiting({ tokens: [] })).toEqual(['tokens'])
  expect(waiting({}, base)).toEqual([])
  expect(permitted(config(base), { ...config(base), future: 1 } as Config).waiting.map(({ path }) => path)).toEqual([['future']])
})

test('the rest of an edit applies: harmless settings, removals, and stricter settings', () => {
  const limited = { ...base, mcpServers: { git: { ...git, allow: ['a', 'b'], deny: ['x'], trust: 'pin' } } }
  for (const edit of [
    server({ timeoutMs: 1_000, description: 'Git', start: 'lazy' }),
    server({ disabled: true, command: 'sh' }),
    server({ trust: 'review', deny: ['push*'], allow: ['status'] }),
    { mcpServers: {} },
    { trust: 'pin' },
    { tokens: base.tokens.slice(1) },
    { profiles: { ...base.profiles, free: { except: ['git__push'] }, more: {} } },
    { exposure: 'search', budgetTokens: 1, results: { maxCharacters: 1_000 }, search: { learn: true } },
  ])
    expect([JSON.stringify(edit), waiting(edit)]).toEqual([JSON.stringify(edit), []])
  const less = { allow: ['a'], deny: ['x', 'y'], trust: 'review' }
  expect(waiting({ mcpServers: { git: { ...git, ...less } } }, limited)).toEqual([])
  for (const more of [
    { ...less, allow: ['a', 'c'] },
    { ...less, deny: [] },
    { allow: ['a'], deny: ['x'] },
  ])
    expect([JSON.stringify(more), waiting({ mcpServers: { git: { ...git, ...more } } }, limited)]).toEqual([
      JSON.stringify(more),
      ['mcpServers.git'],
    ])
})

test('what waits is replaced by what was approved, next to the harmless part of the same edit', () => {
  const edited = {
    ...base,
    trust: 'off',
    mcpServers: {
      git: { ...git, command: 'sh', timeoutMs: 1_000, deny: ['push'] },
      web: { command: 'curl', timeoutMs: 2_000 },
      more: git,
    },
  }
  const result = permitted(config(base), config(edited))
  expect(result.config.trust).toBe('watch')
  expect(result.config.mcpServers.git).toMatchObject({ command: 'git-mcp', timeoutMs: 1_000, deny: ['push'] })
  expect(result.config.mcpServers.web).toMatchObject({ url: 'https://web.example/mcp', timeoutMs: 2_000 })
  expect(result.config.mcpServers.web).not.toHaveProperty('command')
  expect(configSchema.safeParse(result.config).success).toBe(true)
  // A stricter setting that applied cannot be withdrawn without consent.
  const next = approvedAfter(config(base), result)
  expect(Object.keys(next.mcpServers)).toEqual(['git', 'web'])
  expect(permitted(next, config({ ...base, mcpServers: { ...base.mcpServers, git } })).waiting).toHaveLength(1)
})

test('AT-S11-3: a server that returns as it was approved starts, but not with a definition that was hidden while it was disabled', () => {
  const gone = approvedAfter(config(base), permitted(config(base), config({ ...base, mcpServers: {} })))
  expect(permitted(gone, config(base)).waiting).toEqual([])
  const disabled = config({ ...base, mcpServers: { git: { command: 'sh', disabled: true } } })
  const hidden = approvedAfter(config(base), permitted(config(base), disabled))
  expect(permitted(hidden, config({ ...base, mcpServers: { git: { command: 'sh' } } })).waiting).toHaveLength(1)
  expect(permitted(hidden, config(base)).waiting).toEqual([])
  const off = { ...base, mcpServers: { git: { ...git, disabled: true } } }
  expect(waiting({ mcpServers: { git } }, off)).toEqual(['mcpServers.git'])
})

test('with "reload": "always", everything applies, until it is withdrawn', () => {
  const always = { ...base, reload: 'always' }
  expect(waiting({ mcpServers: { more: git }, trust: 'off' }, always)).toEqual([])
  const asking = approvedAfter(config(always), permitted(config(always), config(base)))
  expect(permitted(asking, config(always)).waiting.map(({ path }) => path)).toEqual([['reload']])
})

test('the cluster waits, and its secret is masked', () => {
  const cluster = { url: 'redis://:redis-password@evil.example', secret: 'shared-by-all-replicas-0123456789' }
  const { waiting: parts } = permitted(config(base), config({ ...base, cluster }))
  expect(parts.map(({ path }) => path.join('.'))).toEqual(['cluster'])
  const shown = JSON.stringify(parts.map((part) => describeEdit(part, false)))
  expect(shown).toContain('evil.example')
  expect(shown).not.toMatch(/redis-password|shared-by-all/u)
})
