import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ToolAnnotations } from '@unfold-mcp/core'
import { afterAll, expect, test } from 'vitest'
import { policyDigest } from '../config/policy/digest.ts'
import { policy as policySchema } from '../config/policy/schema.ts'
import type { SubjectCall } from './conditions.ts'
import { Policy } from './policy.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'unfold-policy-')))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const policy = (config: unknown) => new Policy(policySchema.parse(config), folder)

function call(
  input: Record<string, unknown> = {},
  { annotations, ...rest }: Partial<SubjectCall> & { annotations?: ToolAnnotations } = {},
): SubjectCall {
  return {
    server: 'files',
    tool: 'write_file',
    client: undefined,
    input,
    definition: () => ({ ...(annotations && { annotations }) }),
    ...rest,
  }
}

const decide = async (config: unknown, subject: SubjectCall = call()) => (await policy(config).decide(subject)).effect

test('the first rule that applies decides, and the default if none does', async () => {
  const rules = [
    { effect: 'allow', tool: 'read_*', reason: 'reading is fine' },
    { effect: 'deny', server: ['git', 'fi*'], reason: 'files are read-only' },
    { effect: 'ask' },
  ]
  expect(await policy({ rules }).decide(call())).toEqual({
    effect: 'deny',
    rule: 'policy.rules[1]',
    reason: 'files are read-only',
  })
  expect(await decide({ rules }, call({}, { tool: 'read_file' }))).toBe('allow')
  expect(await decide({ rules }, call({}, { server: 'web' }))).toBe('ask')
  expect(await policy({}).decide(call())).toEqual({ effect: 'allow', rule: undefined, reason: undefined })
  expect(await decide({ default: 'deny' })).toBe('deny')
})

test('all conditions of a rule must hold', async () => {
  const rules = [{ effect: 'deny', server: 'files', tool: 'write_file', token: 'ci', profile: ['a', 'b'] }]
  const by = (client: SubjectCall['client']) => decide({ rules }, call({}, { client }))
  expect(await by({ token: 'ci', profile: 'b' })).toBe('deny')
  expect(await by({ token: 'ci', profile: 'c' })).toBe('allow')
  expect(await by({ token: 'cli', profile: 'a' })).toBe('allow')
  expect(await by({ token: 'ci' })).toBe('allow')
  expect(await by(undefined)).toBe('allow')
})

test.each<[ToolAnnotations | undefined, object, boolean]>([
  [undefined, { readOnly: false, destructive: true, idempotent: false, openWorld: true }, true],
  [{}, { destructive: true }, true],
  [{ destructiveHint: false }, { destructive: true }, false],
  [{ readOnlyHint: true }, { readOnly: true, destructive: false }, true],
  [{ readOnlyHint: true, destructiveHint: true }, { readOnly: true }, false],
  [{ readOnlyHint: true, destructiveHint: true }, { destructive: true }, true],
  [{ openWorldHint: false }, { openWorld: true }, false],
  [{ idempotentHint: true }, { idempotent: true }, true],
])('annotations %j and condition %j', async (annotations, condition, holds) => {
  const rules = [{ effect: 'deny', annotations: condition }]
  expect(await decide({ rules }, call({}, annotations && { annotations }))).toBe(holds ? 'deny' : 'allow')
})

test('annotations of an unknown tool permit nothing', async () => {
  const unknown = call({}, { definition: () => undefined })
  expect(await decide({ rules: [{ effect: 'deny', annotations: { destructive: true } }] }, unknown)).toBe('deny')
  expect(await decide({ default: 'ask', rules: [{ effect: 'allow', annotations: { readOnly: true } }] }, unknown)).toBe('ask')
})

test('arguments must match a schema, or must not', async () => {
  const large = { properties: { amount: { type: 'number', exclusiveMinimum: 100 } }, required: ['amount'] }
  const denied = { rules: [{ effect: 'deny', arguments: large }] }
  expect(await decide(denied, call({ amount: 101 }))).toBe('deny')
  expect(await decide(denied, call({ amount: 100 }))).toBe('allow')
  const allowed = { default: 'deny', rules: [{ effect: 'allow', arguments: { not: large } }] }
  expect(await decide(allowed, call({ amount: 101 }))).toBe('deny')
  expect(await decide(allowed, call({ amount: 1 }))).toBe('allow')
})

test('a schema that takes too long to evaluate permits nothing', async () => {
  const values = Array.from({ length: 60_000 }, (_, index) => index)
  const schema = { properties: { values: { items: { anyOf: [{ const: -1 }, { type: 'number' }] } } } }
  expect(await decide({ default: 'deny', rules: [{ effect: 'allow', arguments: schema }] }, call({ values }))).toBe('deny')
  expect(await decide({ rules: [{ effect: 'deny', arguments: schema }] }, call({ values }))).toBe('deny')
})

const inside = { argument: 'path', inside: ['data'] }

test.each<[string, Record<string, unknown>]>([
  ['is missing', {}],
  ['is inherited', Object.create({ path: `${folder}/data/x` }) as Record<string, unknown>],
  ['is not a text', { path: 7 }],
  ['is an object', { path: { path: `${folder}/data/x` } }],
  ['is an empty list', { path: [] }],
  ['is nested too deeply', { path: [[[[`${folder}/data/x`]]]] }],
  ['has too many values', { path: Array.from({ length: 101 }, () => `${folder}/data/x`) }],
  ['has one value outside', { path: [`${folder}/data/x`, '/etc/passwd'] }],
])('an argument that %s permits nothing', async (_, input) => {
  expect(await decide({ default: 'deny', rules: [{ effect: 'allow', path: inside }] }, call(input))).toBe('deny')
  expect(await decide({ rules: [{ effect: 'deny', path: { argument: 'path', outside: ['data'] } }] }, call(input))).toBe('deny')
})

test('paths and hosts in several arguments and in lists are all checked', async () => {
  const move = { default: 'deny', rules: [{ effect: 'allow', path: { ...inside, argument: ['source', 'destination'] } }] }
  const [one, other] = [`${folder}/data/a`, `${folder}/data/b`]
  expect(await decide(move, call({ source: one, destination: other }))).toBe('allow')
  expect(await decide(move, call({ source: one, destination: '/tmp/b' }))).toBe('deny')
  expect(await decide(move, call({ source: one }))).toBe('deny')
  const fetch = { default: 'deny', rules: [{ effect: 'allow', host: { argument: 'urls', in: ['*.example.com'] } }] }
  expect(await decide(fetch, call({ urls: ['https://a.example.com', 'b.example.com:80'] }))).toBe('allow')
  expect(await decide(fetch, call({ urls: ['https://a.example.com', 'https://evil.example'] }))).toBe('deny')
})

test('a rule that inspects arguments never hides a tool; one that denies it with any arguments does', () => {
  const hides = (config: unknown, subject = call()) => policy(config).denies(subject)
  expect(hides({ rules: [{ effect: 'deny', tool: 'write_*' }] })).toBe(true)
  expect(hides({ default: 'deny' })).toBe(true)
  expect(hides({ rules: [{ effect: 'deny', tool: 'write_*', path: { argument: 'path', outside: ['data'] } }] })).toBe(false)
  expect(hides({ default: 'deny', rules: [{ effect: 'allow', path: inside }] })).toBe(false)
  expect(hides({ default: 'deny', rules: [{ effect: 'ask', arguments: { required: ['x'] } }] })).toBe(false)
  expect(hides({ default: 'deny', rules: [{ effect: 'deny', arguments: { required: ['x'] } }] })).toBe(true)
  expect(hides({ rules: [{ effect: 'ask' }, { effect: 'deny' }] })).toBe(false)
  const forToken = { rules: [{ effect: 'deny', token: 'ci' }] }
  expect(hides(forToken)).toBe(false)
  expect(hides(forToken, call({}, { client: { token: 'ci' } }))).toBe(true)
})

test('an explanation shows each condition, up to the rule that decides', async () => {
  const config = {
    rules: [
      { effect: 'deny', tool: 'delete_*' },
      { effect: 'ask', server: 'files', path: { argument: 'path', outside: ['data'] } },
      { effect: 'deny' },
    ],
  }
  expect(await policy(config).explain(call({ path: '/etc/passwd' }))).toEqual({
    verdict: { effect: 'ask', rule: 'policy.rules[1]', reason: undefined },
    isListed: true,
    rules: [
      {
        rule: 'policy.rules[0]',
        effect: 'deny',
        applies: false,
        conditions: [{ condition: 'tool', outcome: 'no', detail: 'write_file' }],
      },
      {
        rule: 'policy.rules[1]',
        effect: 'ask',
        applies: true,
        conditions: [
          { condition: 'server', outcome: 'yes', detail: 'files' },
          { condition: 'path', outcome: 'yes', detail: '/etc/passwd: yes' },
        ],
      },
    ],
  })
})

test('equal policies have the same version, and others do not', () => {
  const version = (config: unknown) => policyDigest({ policy: policySchema.parse(config) })
  expect(version({ rules: [{ effect: 'deny', tool: 'a' }] })).toBe(
    version({ default: 'allow', rules: [{ tool: 'a', effect: 'deny' }] }),
  )
  expect(version({ rules: [{ effect: 'deny', tool: 'b' }] })).not.toBe(version({ rules: [{ effect: 'deny', tool: 'a' }] }))
  expect(policyDigest({})).toMatch(/^[0-9a-f]{64}$/u)
})
