import { isRecord } from '@unfold-mcp/core'
import { parse as parseJson } from 'jsonc-parser'
import { readText } from '../config/formats/text.ts'
import { envVariable, pathModule, type System } from '../config/system.ts'
import { isAtLeast } from './program-version.ts'

/** Whether a host defers MCP tools behind its own tool search with its current settings. */
export interface Deferral {
  readonly isOn: boolean
  /** Whether only the option set by `connect` prevents it. */
  readonly isOverridden?: boolean
  readonly why: string
}

export type VersionOf = (program: string) => Promise<string | undefined>

/** Reads the settings of a host; undefined for hosts that do not defer all tools. */
export async function deferralOf(host: string, system: System, versionOf: VersionOf): Promise<Deferral | undefined> {
  if (host === 'claude-code') return claudeDeferral(system, versionOf)
  if (host === 'qwen-code')
    return { isOn: false, isOverridden: true, why: 'alwaysLoadTools keeps Qwen Code from deferring these tools.' }
  return undefined
}

// Earliest versions measured; older ones behave differently.
const first = { claude: '2.1.197', claudeBehindProxy: '2.1.325' }

async function claudeDeferral(system: System, versionOf: VersionOf): Promise<Deferral> {
  const { home, platform } = system
  const paths = pathModule(platform)
  const moved = envVariable(system, 'CLAUDE_CONFIG_DIR')
  const file = paths.join(moved ?? paths.join(home, '.claude'), 'settings.json')
  const [managed, user, state, installed] = await Promise.all([
    settingsIn(managedFiles[platform] ?? managedFiles.linux ?? ''),
    settingsIn(file),
    settingsIn(paths.join(moved ?? home, '.claude.json')),
    versionOf('claude'),
  ])
  const seen = state.lastOnboardingVersion
  const version = installed ?? (typeof seen === 'string' ? seen : undefined)
  const name = version === undefined ? 'Claude Code' : `Claude Code ${version}`
  // Settings override environment variables.
  const set = (variable: string): string | undefined =>
    textAt(managed, ['env', variable]) ?? textAt(user, ['env', variable]) ?? envVariable(system, variable)
  const off = (why: string): Deferral => ({ isOn: false, why })
  if (version !== undefined && !isAtLeast(version, first.claude))
    return off(`${name} is older than ${first.claude}, the first version known to defer tools.`)
  if (isTrue(set('CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS')))
    return off('CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS turns its tool search off.')
  if ([managed, user].some((settings) => denies(settings, ['permissions', 'deny'], ['ToolSearch'])))
    return off('Its settings deny ToolSearch.')
  const setting = set('ENABLE_TOOL_SEARCH')
  if (setting !== undefined && setting !== '') return deferralFromSetting(setting, name)
  const isOlder = version !== undefined && !isAtLeast(version, first.claudeBehindProxy)
  if (isOlder && isForeign(set('ANTHROPIC_BASE_URL')))
    return off(`${name} does not defer tools with a foreign ANTHROPIC_BASE_URL.`)
  if (isOlder && isTrue(set('CLAUDE_CODE_USE_VERTEX'))) return off(`${name} does not defer tools on Vertex AI.`)
  return { isOn: true, why: `${name} defers tools behind its own tool search.` }
}

const managedFiles: { readonly [platform: string]: string } = {
  linux: '/etc/claude-code/managed-settings.json',
  darwin: '/Library/Application Support/ClaudeCode/managed-settings.json',
  win32: 'C:\\Program Files\\ClaudeCode\\managed-settings.json',
}

function deferralFromSetting(setting: string, name: string): Deferral {
  const share = /^auto:(\d+)$/u.exec(setting)?.[1]
  if (isTrue(setting) || share === '0') return { isOn: true, why: `${name} defers tools: ENABLE_TOOL_SEARCH is "${setting}".` }
  // Defers only lists above this share of the context window.
  if (/^auto\b/u.test(setting) && Number(share ?? 10) < 100)
    return { isOn: false, why: `${name} defers long tool lists only: ENABLE_TOOL_SEARCH is "${setting}".` }
  if (isFalse(setting) || /^auto\b/u.test(setting)) return { isOn: false, why: `ENABLE_TOOL_SEARCH is "${setting}".` }
  return { isOn: true, why: `${name} defers tools behind its own tool search.` }
}

type Settings = Readonly<Record<string, unknown>>

/** Unreadable settings are for the client to report. */
async function settingsIn(file: string): Promise<Settings> {
  const read = await readText(file)
  const value: unknown =
    read === undefined || 'problem' in read ? undefined : parseJson(read.text, [], { allowTrailingComma: true })
  return isRecord(value) ? value : {}
}

function valueAt(settings: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return settings
  return isRecord(settings) && Object.hasOwn(settings, name) ? valueAt(settings[name], rest) : undefined
}

function textAt(settings: Settings, path: readonly string[]): string | undefined {
  const value = valueAt(settings, path)
  return typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number' ? String(value) : undefined
}

function denies(settings: Settings, path: readonly string[], tools: readonly string[]): boolean {
  const list = valueAt(settings, path)
  return Array.isArray(list) && tools.some((tool) => list.includes(tool))
}

const isTrue = (value: string | undefined): boolean => /^(?:1|true|yes|on|force)$/iu.test(value?.trim() ?? '')
const isFalse = (value: string): boolean => /^(?:0|false|no|off)$/iu.test(value.trim())

function isForeign(url: string | undefined): boolean {
  if (url === undefined || url === '') return false
  return !URL.canParse(url) || !/(?:^|\.)anthropic\.com$/iu.test(new URL(url).hostname)
}
