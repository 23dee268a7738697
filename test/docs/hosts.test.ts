import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type HostProfile, hostProfiles } from '@unfold-mcp/core'
import { expect, test } from 'vitest'

const page = join(import.meta.dirname, '../../docs/guides/hosts.md')

const listed = (values: readonly string[]): string =>
  values.length === 0 ? 'none' : values.map((value) => `\`${value}\``).join(', ')

function limitsOf({ limits }: HostProfile): string {
  const { description, instructions, toolName, tools } = limits
  const parts = [
    description === undefined ? '' : `descriptions ${description.toLocaleString('en')} characters`,
    instructions === undefined ? '' : `instructions ${instructions.toLocaleString('en')}`,
    toolName === undefined ? '' : `names ${toolName}`,
    tools === undefined ? '' : `${tools} tools`,
  ].filter((part) => part !== '')
  return parts.length === 0 ? 'none found' : parts.join(', ')
}

const receives = { text: 'text', structured: '`structuredContent` instead of text', both: 'both' } as const

/** Renders the host profiles as the table on the page. */
function table(): string {
  const head = ['Host', '`?host=`', 'Re-lists', 'Model receives', 'Defers tools', 'Hints it reads', 'Limits', 'Measured']
  const rows = hostProfiles.map((host) => [
    host.title,
    `\`${host.id}\``,
    host.relists,
    receives[host.passes],
    host.defers,
    listed(host.hints),
    limitsOf(host),
    host.measured ?? 'reported, not measured',
  ])
  const dropped = hostProfiles
    .filter(({ droppedKeywords }) => droppedKeywords.length > 0)
    .map(({ title, droppedKeywords }) => `- ${title}: ${listed(droppedKeywords)}`)
  const lines = [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`)
  return [...lines, '', 'Schema keywords that do not reach the model:', '', ...dropped].join('\n')
}

test('the page on hosts shows the current host profiles (if not, copy the table between its markers)', async () => {
  const text = await readFile(page, 'utf8')
  const [, shown = ''] = /<!-- hosts -->\n([\s\S]*?)\n?<!-- \/hosts -->/u.exec(text) ?? []
  // The formatter aligns the columns.
  const plain = shown
    .trim()
    .replaceAll(/ +/gu, ' ')
    .replaceAll(/-{4,}/gu, '---')
    .replaceAll(/\n (?=`)/gu, ' ')
  expect(plain).toBe(table())
})
