import { expect, test } from 'vitest'
import { machine } from '../../test/machine.ts'
import { deferralOf } from './deferral.ts'
import { chooseExposure, loadingFor, parseExposure } from './exposure.ts'

interface Case {
  readonly version?: string
  readonly env?: Record<string, string>
  readonly settings?: object
  readonly state?: object
}

const foreign = { ANTHROPIC_BASE_URL: 'http://127.0.0.1:8080' }

async function claude({ version, env = {}, settings, state }: Case): Promise<boolean | undefined> {
  await using at = await machine(env)
  if (settings !== undefined) await at.write('~/.claude/settings.json', settings)
  if (state !== undefined) await at.write('~/.claude.json', state)
  return (await deferralOf('claude-code', at.system, async () => version))?.isOn
}

test.each<[string, boolean, Case]>([
  ['an unknown version is taken for the current one', true, {}],
  ['2.1.325 defers', true, { version: '2.1.325' }],
  ['2.1.325 defers with a foreign base URL too', true, { version: '2.1.325', env: foreign }],
  ['2.1.197 defers', true, { version: '2.1.197' }],
  ['2.1.197 does not with a foreign base URL', false, { version: '2.1.197', env: foreign }],
  ['one that its settings set counts as well', false, { version: '2.1.197', settings: { env: foreign } }],
  [
    'the base URL of Anthropic is not foreign',
    true,
    { version: '2.1.197', env: { ANTHROPIC_BASE_URL: 'https://api.anthropic.com' } },
  ],
  ['2.1.197 does if it is configured to', true, { version: '2.1.197', env: { ...foreign, ENABLE_TOOL_SEARCH: 'true' } }],
  ['the version is read from its state as well', false, { state: { lastOnboardingVersion: '2.1.197' }, env: foreign }],
  ['what is older was not measured', false, { version: '2.0.76' }],
  ['ENABLE_TOOL_SEARCH=false', false, { env: { ENABLE_TOOL_SEARCH: 'false' } }],
  [
    'settings count before the environment',
    false,
    { settings: { env: { ENABLE_TOOL_SEARCH: 'false' } }, env: { ENABLE_TOOL_SEARCH: 'true' } },
  ],
  ['auto defers long lists only', false, { env: { ENABLE_TOOL_SEARCH: 'auto' } }],
  ['auto:5 as well', false, { env: { ENABLE_TOOL_SEARCH: 'auto:5' } }],
  ['auto:0 defers every list', true, { env: { ENABLE_TOOL_SEARCH: 'auto:0' } }],
  ['a denied tool search', false, { settings: { permissions: { deny: ['ToolSearch'] } } }],
  ['without experimental betas', false, { env: { CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS: '1' } }],
])('Claude Code: %s', async (_, isOn, given) => {
  expect(await claude(given)).toBe(isOn)
})

test('Qwen Code loads our tools because connect sets its option, so the URL requests auto', async () => {
  await using at = await machine()
  const deferral = await deferralOf('qwen-code', at.system, async () => '0.24.4')
  const facts = {
    title: 'Qwen Code',
    host: 'qwen-code',
    flag: undefined,
    address: undefined,
    configured: 'auto',
    deferral,
  } as const
  expect(chooseExposure(facts)).toMatchObject({ exposure: 'auto', isExplicit: true })
})

test('native is chosen if the host defers; a flag, the URL and the configuration take precedence', () => {
  const facts = {
    title: 'Claude Code',
    host: 'claude-code',
    flag: undefined,
    address: undefined,
    configured: 'auto',
    deferral: { isOn: true, why: 'It does.' },
  } as const
  expect(chooseExposure(facts)).toEqual({ exposure: 'native', isExplicit: true, why: 'It does.' })
  expect(chooseExposure({ ...facts, configured: 'search' })).toMatchObject({ exposure: 'search', isExplicit: false })
  expect(chooseExposure({ ...facts, address: 'groups', configured: 'search' })).toMatchObject({
    exposure: 'groups',
    isExplicit: true,
  })
  expect(chooseExposure({ ...facts, flag: 'everything', address: 'groups' })).toMatchObject({
    exposure: 'everything',
    isExplicit: true,
  })
  expect(chooseExposure({ ...facts, deferral: { isOn: false, why: 'It is off.' } })).toEqual({
    exposure: 'auto',
    isExplicit: false,
    why: 'It is off.',
  })
  expect(chooseExposure({ ...facts, title: 'Codex', host: 'codex', deferral: undefined }).why).toBe('Codex does not defer tools.')
  expect(() => parseExposure('all')).toThrow('--exposure must be one of auto,')
  expect([loadingFor('native'), loadingFor('everything'), loadingFor('auto')]).toEqual(['deferred', 'unset', 'loaded'])
})
