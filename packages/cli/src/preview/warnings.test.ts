import { type HostProfile, hostById } from '@unfold-mcp/core'
import { expect, test } from 'vitest'
import { plainHost as plain, tool, transcript } from '../../test/transcript.ts'
import type { Transcript } from './transcript.ts'
import { warningsOf } from './warnings.ts'

const messages = (what: Partial<Transcript>, host?: HostProfile): readonly string[] =>
  warningsOf(transcript(what), { host, serverName: 'desk' }).map(({ kind, message }) => `${kind}: ${message}`)

test('a server without problems has no warnings, for any host', () => {
  const tools = [tool('now'), tool('search_tools', { description: '' })]
  expect(messages({ tools })).toEqual([])
  expect(messages({ tools }, hostById('claude-code'))).toEqual([])
})

test('a missing description is reported for tools that are listed, appear later, or are never listed', () => {
  const step = { name: 'activate_a', arguments: {}, reply: '', isError: false, appeared: [tool('later', { description: ' ' })] }
  const { description: _none, ...hidden } = tool('hidden')
  expect(messages({ tools: [tool('first', { description: '' })], steps: [step], unlisted: [hidden] })).toEqual([
    'missing_description: 3 tools have no description: first, later, hidden',
  ])
  expect(messages({ tools: [tool('first', { description: '' })] })).toEqual(['missing_description: first has no description'])
})

test('long lists of names are cut', () => {
  const tools = Array.from({ length: 8 }, (_, at) => tool(`t${at}`, { description: '' }))
  expect(messages({ tools })).toEqual(['missing_description: 8 tools have no description: t0, t1, t2, t3, t4 and 3 more'])
})

const group = (name: string, parent?: string) => ({
  name,
  activator: `activate_${name}`,
  ...(parent !== undefined && { parent }),
})
const opening = (name: string, more = {}) => ({
  ...{ name: `activate_${name}`, arguments: {}, reply: `Activated: ${name}.`, isError: false, appeared: [], group: name },
  ...more,
})

test('a group without tools is reported, unless a nested group has tools', () => {
  const outline = {
    tools: [{ name: 'deep', tokens: 1, group: 'inner' }],
    groups: [group('empty'), group('outer'), group('inner', 'outer')],
  }
  const tools = [tool('activate_empty'), tool('activate_outer'), tool('activate_inner')]
  const steps = [opening('empty'), opening('outer'), opening('inner', { appeared: [tool('deep')] })]
  expect(messages({ tools, outline, steps })).toEqual([
    'unreachable_group: group "empty" has no tools that this client can reach',
  ])
})

test('an activator that fails is reported with its reply', () => {
  const outline = { tools: [], groups: [group('a')] }
  const steps = [opening('a', { isError: true, reply: 'Could not: down.\nMore.' })]
  expect(messages({ tools: [tool('activate_a')], outline, steps })).toEqual([
    'unreachable_group: activate_a fails: Could not: down.',
  ])
})

test('an unlisted activator is reported in a session, unless tools are searchable or it was skipped', () => {
  const outline = { tools: [], groups: [group('a')] }
  expect(messages({ outline })).toEqual([
    'dropped_activator: group "a" cannot be activated: its activator "activate_a" is not listed',
  ])
  expect(messages({ outline, tools: [tool('activate_a')], skipped: ['activate_a'] })).toEqual([])
  expect(
    messages({ outline: { ...outline, tools: [{ name: 'x', tokens: 1, group: 'a' }] }, tools: [tool('search_tools')] }),
  ).toEqual([])
})

test('cyclic groups terminate', () => {
  const outline = { tools: [], groups: [group('a', 'b'), group('b', 'a')] }
  expect(messages({ era: 'stateless', outline })).toHaveLength(2)
})

test('unreachable tools are reported', () => {
  const outline = { tools: [{ name: 'hidden', tokens: 1 }], groups: [] }
  expect(messages({ outline, tools: [tool('now')] })).toEqual([
    'unreachable_tool: 1 tool cannot be reached by this client: hidden',
  ])
  expect(messages({ outline, tools: [tool('search_tools')] })).toEqual([])
})

test('a host that never re-lists does not see new tools without call_tool', () => {
  const steps = [opening('a', { appeared: [tool('new')] })]
  const outline = { tools: [{ name: 'new', tokens: 1, group: 'a' }], groups: [group('a')] }
  const host = { ...plain, relists: 'never' as const }
  expect(messages({ tools: [tool('activate_a')], steps, outline }, host)).toEqual([
    'unreachable_tool: Plain does not re-list, so it never sees new',
  ])
  expect(messages({ tools: [tool('activate_a'), tool('call_tool')], steps, outline }, host)).toEqual([])
})

test('host limits are checked for every listed tool', () => {
  const limits = { description: 10, instructions: 5, toolName: 20, tools: 1 }
  const tools = [tool('fits_well', { description: 'Short.' }), tool('too_long_name')]
  expect(messages({ tools, instructions: '123456' }, { ...plain, limits })).toEqual([
    'truncated_description: too_long_name has a description that is too long: Plain truncates descriptions to 10 characters',
    'truncated_instructions: the instructions have 6 characters: Plain truncates them to 5',
    'long_name: too_long_name has a name that is too long: Plain accepts 20 characters including its own prefix, such as "mcp__desk__"',
    'too_many_tools: 2 tools are listed: Plain accepts 1',
  ])
})

test('a name with its prefix may reach the limit', () => {
  const limits = { toolName: 'mcp__desk__exact'.length }
  expect(messages({ tools: [tool('exact')] }, { ...plain, limits })).toEqual([])
  expect(messages({ tools: [tool('exact1')] }, { ...plain, limits })).toHaveLength(1)
})

test('dropped schema keywords are reported once, with their tools', () => {
  const inputSchema = { type: 'object' as const, properties: { format: { type: 'string', pattern: '^a' } } }
  const tools = ['a', 'b', 'c'].map((name) => tool(name, { inputSchema }))
  const host = { ...plain, droppedKeywords: ['format', 'pattern'] }
  expect(messages({ tools }, host)).toEqual([
    'dropped_keywords: Plain does not pass these schema keywords to the model: pattern (a, b and 1 more)',
  ])
  expect(messages({ tools: [tool('read_result', { inputSchema })] }, host)).toEqual([])
})
