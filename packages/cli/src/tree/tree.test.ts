import { expect, test } from 'vitest'
import { treeLines } from './lines.ts'
import { treeOf } from './tree.ts'

const tool = (name: string) => ({ name, inputSchema: { type: 'object' as const } })

test('without groups the tree is the list of tools', () => {
  const tree = treeOf([tool('a'), tool('b')], undefined)
  expect(tree).toMatchObject({ all: { count: 2 }, listed: { count: 2 }, tools: [{ name: 'a' }, { name: 'b' }], groups: [] })
  expect(treeLines('s', tree, 80).join('\n')).not.toContain('listed')
})

test('cyclic, orphaned and deeply nested groups lose no tools and terminate', () => {
  const deep = Array.from({ length: 300 }, (_, at) => ({ name: `g${at}`, ...(at > 0 && { parent: `g${at - 1}` }) }))
  const groups = [
    { name: 'self', parent: 'self' },
    { name: 'hen', parent: 'egg' },
    { name: 'egg', parent: 'hen' },
    { name: 'chick', parent: 'hen' },
    { name: 'orphan', parent: 'missing' },
    { name: '__proto__', parent: 'orphan' },
    ...deep,
  ]
  const tools = [
    ...groups.map(({ name }) => ({ name: `in_${name}`, tokens: 1, group: name })),
    { name: 'stray', tokens: 1, group: 'gone' },
  ]
  const tree = treeOf([], { tools, groups })
  expect(tree.groups.reduce((sum, { count }) => sum + count, 0)).toBe(groups.length)
  expect(tree.groups.find(({ name }) => name === 'orphan')).toMatchObject({
    count: 2,
    tokens: 2,
    groups: [{ name: '__proto__' }],
  })
  expect(tree.tools).toEqual([{ name: 'stray', tokens: 1, listed: false }])
  const lines = treeLines('s', tree, 80)
  for (const { name } of tools) expect(lines.some((line) => line.includes(` ${name}  ~1`))).toBe(true)
})
