import { EditError } from '@unfold-mcp/client/edit'
import { expect, test } from 'vitest'
import { removeYaml, removeYamlItem, setYaml, setYamlItem, yamlEntry, yamlItem } from './yaml.ts'

const own = { type: 'streamable_http', uri: 'http://127.0.0.1:7420/mcp?host=goose', headers: { Authorization: 'Bearer "x": y' } }
const set = setYaml('extensions', 'unfold', own)
const remove = removeYaml('extensions', 'unfold')

const mine = `# My settings
GOOSE_MODEL:   'large'   # the best

extensions:
    developer:   # theirs
        enabled: true
        notes: |
            a
              b
    git: { type: stdio, cmd: "git" } # in one line

# about the end
GOOSE_MODE: auto
`

test('an entry is added, replaced in place and removed, and everything else stays byte-identical', () => {
  const after = set(mine)
  expect(after).toBe(
    mine.replace(
      '# in one line\n',
      `# in one line
    unfold:
      type: streamable_http
      uri: http://127.0.0.1:7420/mcp?host=goose
      headers:
        Authorization: 'Bearer "x": y'
`,
    ),
  )
  expect(yamlEntry(after, 'extensions', 'unfold')).toEqual(own)
  expect(set(after)).toBe(after)
  const changed = setYaml('extensions', 'unfold', { type: 'stdio', args: ['a', 'b'] })(after)
  expect(yamlEntry(changed, 'extensions', 'unfold')).toEqual({ type: 'stdio', args: ['a', 'b'] })
  expect(remove(changed)).toBe(mine)
  expect(remove(mine)).toBe(mine)
})

test('a missing or empty section is created', () => {
  for (const text of [
    '',
    '# nothing yet\n',
    'a: 1',
    'a: 1\n',
    'extensions:\n',
    'extensions: {}\nb: 2\n',
    'extensions: # none\nb: 2\n',
  ]) {
    const after = set(text)
    expect(yamlEntry(after, 'extensions', 'unfold')).toEqual(own)
    expect(yamlEntry(remove(after), 'extensions', 'unfold')).toBeUndefined()
  }
  expect(remove(set('a: 1\n'))).toBe('a: 1\nextensions: {}\n')
  const windows = 'a: 1\r\nextensions:\r\n  b:\r\n    c: 1\r\n'
  expect(set(windows).replaceAll('\r\n', '')).not.toMatch(/[\r\n]/u)
  expect(remove(set(windows))).toBe(windows)
})

test('invalid YAML, other values, and flow style are not changed', () => {
  for (const text of [
    'a: [',
    '- a\n',
    '{ extensions: {} }',
    'extensions: { a: { b: 1 } }\n',
    'extensions: text\n',
    'a: 1\n---\nb: 2\n',
    'a: 1\na: 2\n',
  ])
    expect(() => set(text)).toThrow(EditError)
})

test('a list item is added, replaced in place and removed', () => {
  const list = `name: mine
mcpServers:
- name: git   # theirs
  command: git-mcp
- {"name": "other", "url": "https://x.test"} # in one line
models: []
`
  const setItem = setYamlItem('mcpServers', 'unfold', own)
  const removeItem = removeYamlItem('mcpServers', 'unfold')
  const after = setItem(list)
  expect(after).toContain('# in one line\n- name: unfold\n  type: streamable_http\n')
  expect(yamlItem(after, 'mcpServers', 'unfold')).toEqual(own)
  expect(setItem(after)).toBe(after)
  expect(removeItem(setYamlItem('mcpServers', 'unfold', { url: 'x' })(after))).toBe(list)
  expect(removeItem(list)).toBe(list)
  for (const text of ['name: mine\n', 'mcpServers:\n', 'mcpServers: []\nb: 2\n', 'mcpServers:\n    -   name: a\n        b: 1']) {
    expect(yamlItem(setItem(text), 'mcpServers', 'unfold')).toEqual(own)
    expect(yamlItem(removeItem(setItem(text)), 'mcpServers', 'unfold')).toBeUndefined()
  }
  for (const text of ['mcpServers: {}\na: [', 'mcpServers: [{ name: a }]\n', 'mcpServers: { a: 1 }\n'])
    expect(() => setItem(text)).toThrow(EditError)
})
