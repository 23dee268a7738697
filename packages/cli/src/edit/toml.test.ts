import { EditError } from '@unfold-mcp/client/edit'
import { expect, test } from 'vitest'
import { removeTomlTable, setTomlTable, tomlTable } from './toml.ts'

const own = { url: 'http://127.0.0.1:7420/mcp', http_headers: { Authorization: 'Bearer "x"' } }
const set = setTomlTable('mcp_servers', 'unfold', own)
const remove = removeTomlTable('mcp_servers', 'unfold')

const mine = `# My settings
model = "large"   # the best

[mcp_servers.git] # theirs
command = "git-mcp"
text = """
[not a table]
"""

# about the profile
[profiles.fast]
model = 'small'
`

test('a table is added, replaced in place and removed, and everything else stays byte-identical', () => {
  const after = set(mine)
  expect(after).toBe(`${mine}
[mcp_servers.unfold]
url = "http://127.0.0.1:7420/mcp"
http_headers = { Authorization = "Bearer \\"x\\"" }
`)
  expect(set(after)).toBe(after)
  expect(tomlTable(after, 'mcp_servers', 'unfold')).toEqual(own)
  expect(remove(after)).toBe(mine)
  expect(remove(mine)).toBe(mine)
})

test('an existing table is replaced in place with its subtables', () => {
  const theirs = mine.replace(
    '# about the profile',
    '[mcp_servers."unfold"]\r\ncommand = "old"\n[mcp_servers.unfold.env]\nA = "b"\n\n# about the profile',
  )
  const after = set(theirs)
  expect(after.indexOf('[mcp_servers.unfold]')).toBeLessThan(after.indexOf('# about the profile'))
  expect(after).not.toContain('"old"')
  expect(remove(after)).toBe(mine)
})

test('an empty file, and one without a final line break, are extended', () => {
  expect(set('')).toMatch(/^\[mcp_servers\.unfold\]\n/u)
  expect(remove(set(''))).toBe('')
  expect(set('a = 1')).toMatch(/^a = 1\n\n\[mcp_servers\.unfold\]\n/u)
})

test('a file that cannot be edited by lines is not changed', () => {
  for (const text of ['mcp_servers = { git = { command = "x" } }', 'a = ', '[mcp_servers]\nunfold = { url = "x" }\n'])
    expect(() => set(text)).toThrow(EditError)
  expect(() => remove('[mcp_servers]\nunfold = { url = "x" }\n')).toThrow(EditError)
})
