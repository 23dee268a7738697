import { expect, test } from 'vitest'
import { served } from '../../gateway/test/served.ts'
import { server } from '../../gateway/test/upstreams.ts'
import type { GroupNode, Tree } from '../src/tree/tree.ts'
import { home, servers } from './command.ts'

const [node = '', ...desk] = servers.desk

/** The names in a tree: groups with their contents, and tools with a mark if they are not listed. */
const names = ({ tools, groups }: Pick<GroupNode, 'tools' | 'groups'>): readonly unknown[] => [
  ...tools.map(({ name, listed }) => (listed ? name : `(${name})`)),
  ...groups.map((group) => ({ [group.name]: names(group) })),
]

const asking = ['ask', 'ask_later', 'go', 'able', 'log', 'wait', 'more', 'touch']

test.each(['session', '2026-07-28'])(
  'a gateway is a tree of its servers and their tools, listed or not, over %s',
  async (protocol) => {
    await using at = await home()
    await using gateway = await served({
      mcpServers: {
        desk: { command: node, args: desk, tools: { book: { pinned: true } } },
        one: server('asking.mjs', 'one', 'session'),
        two: { ...server('asking.mjs', 'two', 'session'), allow: ['ask'] },
      },
      groups: {
        work: { description: 'All for work. And more.', servers: ['desk'], groups: ['people'] },
        people: { description: 'People', servers: ['two'] },
      },
      exposure: 'search',
    })
    await Promise.all(['desk', 'one', 'two'].map((name) => gateway.ready(name)))
    const tree = async (...more: readonly string[]) => {
      const { code, stdout } = await at.unfold(['tree', gateway.url, '--protocol', protocol, ...more])
      expect(code).toBe(0)
      return stdout
    }
    const [branch] = (JSON.parse(await tree('--json')) as { readonly servers: readonly (Tree & { readonly server: string })[] })
      .servers
    if (branch === undefined) throw new Error('no server')
    const unlisted = (prefix: string, tools: readonly string[]) => tools.map((tool) => `(${prefix}__${tool})`)
    expect(names(branch)).toEqual([
      ...['search_tools', 'describe_tools', 'call_tool'],
      'read_result',
      {
        work: [
          { people: [{ two: unlisted('two', ['ask']) }] },
          {
            desk: ['echo', 'book', 'fail', 'paint', 'shout', 'many', 'slow'].map((tool) =>
              tool === 'book' ? 'desk__book' : `(desk__${tool})`,
            ),
          },
        ],
      },
      { one: unlisted('one', asking) },
    ])
    // The same numbers as those of the gateway itself.
    const { allTokens, listedTokens, tools, listed } = await gateway.gateway.savings()
    expect(branch).toMatchObject({
      server: gateway.url,
      all: { count: tools, tokens: allTokens },
      listed: { count: listed, tokens: listedTokens },
    })
    const [work] = branch.groups
    expect(work).toMatchObject({
      description: 'All for work. And more.',
      count: 8,
      tokens: (work?.groups ?? []).reduce((sum, { tokens }) => sum + tokens, 0),
    })

    const lines = (await tree()).split('\n')
    expect(lines[0]).toMatch(/mcp {2}17 tools, ~[\d,]+ tokens; listed now: 5 tools, ~[\d,]+ tokens$/u)
    const lineOf = (start: string) => lines.find((line) => line.startsWith(start))
    expect(lineOf('├─ search_tools')).toMatch(/~\d+ {2}listed$/u)
    expect(lineOf('├─ [work]')).toMatch(/ {2}8 tools, ~[\d,]+ tokens {2}All for work\.?$/u)
    expect(lineOf('│  ├─ [people]')).toContain('1 tool, ')
    expect(lineOf('│  │     └─ two__ask')).toMatch(/~\d+$/u)
    expect(lineOf('│     ├─ desk__book')).toMatch(/ {2}listed$/u)
    expect(lineOf('   └─ one__touch')).toMatch(/~\d+$/u)
  },
)
