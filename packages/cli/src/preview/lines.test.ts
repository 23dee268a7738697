import { estimateTokens } from '@unfold-mcp/core'
import { expect, test } from 'vitest'
import { tool, transcript } from '../../test/transcript.ts'
import { createStyle, plain } from '../text/style.ts'
import { widthOf } from '../text/width.ts'
import { previewLines } from './lines.ts'
import { previewOf } from './preview.ts'
import type { Transcript } from './transcript.ts'

const preview = (what: Partial<Transcript>) =>
  previewOf(transcript(what), { host: undefined, serverName: 'desk', estimate: estimateTokens })

const reply = 'Activated: a.\n1 tool is now available:\n- one() — Does something that takes a whole line to describe'
const session = preview({
  tools: [tool('activate_a')],
  steps: [{ name: 'activate_a', arguments: {}, reply, isError: false, appeared: [tool('one')], group: 'a' }],
})
const stateless = preview({ era: 'stateless', revision: '2026-07-28', tools: [tool('one', { description: '' })] })

test('eras are side by side if the terminal is wide enough', () => {
  const wide = previewLines({ title: 'desk', previews: [session, stateless] }, { width: 100, style: plain })
  expect(wide[2]).toMatch(/^ +Session \(2025-11-25\) +2026-07-28$/u)
  expect(wide.find((line) => line.startsWith('  one '))).toMatch(/^ {2}one +\d+, after activate_a +\d+$/u)
  expect(wide.find((line) => line.startsWith('  activate_a '))).toMatch(/^ {2}activate_a +\d+ +-$/u)
  const narrow = previewLines({ title: 'desk', previews: [session, stateless] }, { width: 50, style: plain })
  expect(narrow.filter((line) => line.startsWith('Listed first'))).toHaveLength(2)
  expect(narrow.filter((line) => line.startsWith('  one '))).toHaveLength(2)
})

test('no line is wider than the terminal, and text of a server cannot control it', () => {
  const name = `${'long_'.repeat(30)}\u001b[2J`
  const odd = preview({
    tools: [tool(name, { description: '' })],
    steps: [{ name, arguments: {}, reply: '\u001b[2J\u0007'.repeat(40), isError: false, appeared: [tool(`new_${name}`)] }],
  })
  for (const width of [40, 72, 100, 120])
    for (const shown of [[odd], [odd, stateless]]) {
      const lines = previewLines({ title: 'desk', previews: shown }, { width, style: plain })
      expect(lines.filter((line) => widthOf(line) > width)).toEqual([])
      expect(lines.filter((line) => line.includes('\u0007') || line.includes('\u001b'))).toEqual([])
    }
})

test('each step shows its cost and the beginning of its reply', () => {
  const lines = previewLines({ title: 'desk', previews: [session] }, { width: 60, style: plain })
  const at = lines.indexOf('Steps')
  expect(lines.slice(at, at + 6)).toEqual([
    'Steps',
    `  1. activate_a(): reply ${estimateTokens(reply)} tokens, 1 new tool (${session.steps[0]?.tokens} tokens)`,
    '     | Activated: a.',
    '     | 1 tool is now available:',
    '     | - one() — Does something that takes a whole line to',
    '     | describe',
  ])
})

test('steps that are identical in both eras are shown once', () => {
  const search = { name: 'search_tools', arguments: { query: 'x' }, reply: 'x()', isError: false, appeared: [] }
  const both = [preview({ steps: [search] }), preview({ era: 'stateless', revision: '2026-07-28', steps: [search] })]
  expect(
    previewLines({ title: 'desk', previews: both }, { width: 100, style: plain }).filter((line) => line.startsWith('Steps')),
  ).toEqual(['Steps'])
  const one = previewLines({ title: 'desk', previews: [session, stateless] }, { width: 100, style: plain })
  expect(one.filter((line) => line.startsWith('Steps'))).toEqual(['Steps: Session (2025-11-25)'])
})

test('a warning of one era names it, and one of both is shown once', () => {
  const warned = previewLines({ title: 'desk', previews: [session, stateless] }, { width: 100, style: plain })
  expect(warned.at(-1)).toBe('warning: 2026-07-28: one has no description')
  const same = previewLines({ title: 'desk', previews: [stateless, stateless] }, { width: 100, style: plain })
  expect(same.filter((line) => line.startsWith('warning'))).toEqual(['warning: one has no description'])
})

test('notes come last, indented where they are long', () => {
  const notes = ['A note that does not fit into one line of this terminal.', 'Another.']
  const lines = previewLines({ title: 'desk', previews: [session], notes }, { width: 40, style: plain })
  expect(lines.slice(-4)).toEqual(['', 'note: A note that does not fit into', '  one line of this terminal.', 'note: Another.'])
})

test('long lists are cut, listed tools first', () => {
  const tools = Array.from({ length: 30 }, (_, at) => tool(`listed_${at}`))
  const outline = { tools: Array.from({ length: 20 }, (_, at) => ({ name: `other_${at}`, tokens: 5 })), groups: [] }
  const lines = previewLines(
    { title: 'desk', previews: [preview({ tools: [tool('search_tools'), ...tools], outline })] },
    {
      width: 100,
      style: plain,
    },
  )
  expect(lines.filter((line) => line.startsWith('  listed_'))).toHaveLength(24)
  expect(lines.filter((line) => line.startsWith('  other_'))).toHaveLength(10)
  expect(lines).toContain('  … and 16 more (--json shows all)')
})

test('the style is applied', () => {
  const style = createStyle({ env: { FORCE_COLOR: '1' }, isTerminal: true })
  const text = previewLines({ title: 'desk', previews: [stateless] }, { width: 100, style }).join('\n')
  expect(text).toContain('\u001b[33mwarning:\u001b[39m one has no description')
})
