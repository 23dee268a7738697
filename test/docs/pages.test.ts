import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { reasons } from '@unfold-mcp/core'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const under = (folder: string, end: string): string[] =>
  readdirSync(join(root, folder), { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((path) => path.endsWith(end))
    .sort()

const docs = under('docs', '.md')
const pages = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'llms.txt',
  'site/index.md',
  'packages/core/README.md',
  'packages/server/README.md',
  'packages/browser/README.md',
  'packages/gateway/README.md',
  'packages/client/README.md',
  'packages/cli/README.md',
  ...docs,
]

describe('error pages', () => {
  const names = Object.keys(reasons).toSorted()

  test('every reason has a page, and every page has a reason', () => {
    const found = docs.filter((path) => dirname(path) === 'docs/errors' && !path.endsWith('README.md'))
    expect(found).toEqual(names.map((name) => `docs/errors/${name}.md`))
  })

  test('a page has its reason as title and shows the actual message', () => {
    for (const name of names) {
      const page = read(`docs/errors/${name}.md`)
      expect(page.split('\n', 1)[0]).toBe(`# \`${name}\``)
      expect(page).toContain(`source="docs/examples/output/errors/${name}.txt#all"`)
    }
  })

  test('the index lists every reason with its audience', () => {
    const index = read('docs/errors/README.md')
    const readers = { tool: 'model', protocol: 'client', operator: 'author' }
    const rows = [...index.matchAll(/^\| \[`(\w+)`\]\((\w+)\.md\) +\| (\w+) /gmu)].map(([, name, file, reader]) => [
      name,
      file,
      reader,
    ])
    expect(rows).toEqual(names.map((name) => [name, name, readers[reasons[name as keyof typeof reasons]]]))
  })
})

describe('links', () => {
  test('every link to a file in the repository has a valid target, including its heading', () => {
    const broken = pages.flatMap((page) =>
      linksIn(page)
        .filter((link) => !leadsSomewhere(page, link))
        .map((link) => `${page}: ${link}`),
    )
    expect(broken).toEqual([])
  })

  test('every page can be reached from the README', () => {
    const reached = new Set(['README.md'])
    for (const page of reached)
      for (const link of linksIn(page)) if (link.endsWith('.md') || link.includes('.md#')) reached.add(targetOf(page, link))
    expect(docs.filter((path) => !reached.has(path))).toEqual([])
  })
})

test('every file mentioned on a page exists', () => {
  const missing = pages.flatMap((page) =>
    [...read(page).matchAll(/`((?:packages|docs|test|examples|scripts)\/[\w./-]+)`/gu)]
      .map(([, path = '']) => path)
      .filter((path) => !existsSync(join(root, path)))
      .map((path) => `${page}: ${path}`),
  )
  expect(missing).toEqual([])
})

test('every recorded output is used on a page', () => {
  const shown = pages.map(read).join('\n')
  expect(under('docs/examples/output', '.txt').filter((path) => !shown.includes(`source="${path}#all"`))).toEqual([])
})

test('the README has the numbers of the demo', () => {
  const printed = read('docs/examples/output/npm-start.txt')
  const [, tools, tokens, listed, cost] =
    /(\d+) tools, ([\d,]+) tokens\. Clients see (\d+) tools \(([\d,]*\d) tokens/u.exec(printed) ?? []
  const readme = read('README.md').replaceAll('\n', ' ')
  expect(readme).toContain(`**One endpoint for all your MCP servers: ${tools} tools, ${cost} tokens.**`)
  expect(readme).toContain(`${tools} tools that would cost a model ${tokens} tokens`)
  expect(readme).toMatch(
    new RegExp(`\\| tool list, demo +\\| ${tools} tools, ${tokens} tokens .*\\| ${listed} tools, ${cost} tokens`, 'u'),
  )
})

test('the measured numbers in the README are in the benchmarks', () => {
  const rowOf = (page: string, start: string): readonly string[] =>
    read(page)
      .split('\n')
      .find((line) => line.startsWith(`| ${start}`))
      ?.split('|')
      .map((each) => each.replaceAll('**', '').trim()) ?? []
  const compared = [
    ['burst of 20 changes', 'burst of 20 changes'],
    ['change until', 'change in a server'],
    ['server killed', 'server killed'],
    ['list of 1,000 tools', 'list of 1,000 tools'],
  ] as const
  for (const [start, source] of compared) {
    const [, , , hub, proxy, unfold] = rowOf('README.md', start)
    const [, , ...measured] = rowOf('docs/benchmarks.md', source)
    expect([unfold, hub, proxy]).toEqual(measured.slice(0, 3))
  }
  const [, , , ...added] = rowOf('README.md', 'added latency')
  const [, , unfoldMs, hubMs, proxyMs] = rowOf('docs/benchmarks.md', 'added latency')
  const firstAndLast = [hubMs, proxyMs, unfoldMs].map((cell = '') => cell.replace(/^([\d.]+), .* and ([\d.]+)$/u, '$1 and $2 ms'))
  expect(added.slice(0, 3)).toEqual(firstAndLast)
  const tokens = read('docs/examples/measured/tokens.txt')
  const [, , everything, , , unfold = ''] = rowOf('README.md', 'tool list, 527 tools')
  const [surface, search] = unfold.match(/\d+/gu) ?? []
  expect(tokens).toMatch(new RegExp(`^livemcp +527 +${everything?.replace(' tokens', '')} `, 'mu'))
  expect(tokens).toMatch(new RegExp(`^livemcp +\\d+ +${surface} +${search} `, 'mu'))
})

/** Returns the links of a page to files in the repository. */
function linksIn(page: string): string[] {
  const text = read(page).replaceAll(/^( *)(`{3,}).*?^\1\2$/gmsu, '')
  return [...text.matchAll(/\]\(([^)\s]+)\)/gu)].map(([, link = '']) => link).filter((link) => !/^[a-z]+:/u.test(link))
}

function targetOf(page: string, link: string): string {
  const [path = ''] = link.split('#')
  return path === '' ? page : relative(root, resolve(root, dirname(page), path))
}

function leadsSomewhere(page: string, link: string): boolean {
  const target = targetOf(page, link)
  const heading = link.split('#')[1]
  if (!existsSync(join(root, target))) return false
  return heading === undefined || headingsOf(target).includes(heading)
}

/** Returns the anchors that GitHub generates for the headings of a page. */
function headingsOf(page: string): string[] {
  const text = read(page).replaceAll(/^( *)(`{3,}).*?^\1\2$/gmsu, '')
  return [...text.matchAll(/^#+ (.+)$/gmu)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}
