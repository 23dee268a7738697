import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/runs.ts'
import { EditError } from './edit.ts'
import { appendJson, jsonAt, removeItemJson, removeJson, setJson } from './json.ts'

const commented = `{
\t// Mine
\t"theme": "dark", /* kept */
\t"mcpServers": {
\t\t"git": { "command": "git-mcp" } // the best
\t\t// "old": {}
\t},
}
`

describe('editing JSON', () => {
  test('keeps comments, tabs and trailing commas', () => {
    const after = setJson(['mcpServers', 'unfold'], { url: 'http://127.0.0.1:7420/mcp' })(commented)
    expect(after).toBe(
      commented
        .replace('// the best\n', '// the best\n\t\t"unfold": {\n\t\t\t"url": "http://127.0.0.1:7420/mcp"\n\t\t}\n')
        .replace('} // the best', '}, // the best'),
    )
    expect(removeJson(['mcpServers', 'unfold'])(after)).toBe(commented)
  })

  test('replaces a value in place, and keeps CRLF line ends', () => {
    const text = '{\r\n  "a": 1,\r\n  "b": 2\r\n}\r\n'
    expect(setJson(['a'], { c: [1] })(text)).toBe('{\r\n  "a": {\r\n    "c": [1]\r\n  },\r\n  "b": 2\r\n}\r\n')
    expect(setJson(['c'], 3)(text)).toBe('{\r\n  "a": 1,\r\n  "b": 2,\r\n  "c": 3\r\n}\r\n')
  })

  test('creates missing files and objects, and keeps single-line objects on one line', () => {
    expect(setJson(['mcpServers', 'a'], {})('')).toBe('{\n  "mcpServers": {\n    "a": {}\n  }\n}\n')
    expect(setJson(['b'], 2)('{"a":1}')).toBe('{"a":1, "b": 2}')
    expect(setJson(['b'], 2)('{"a":1,}')).toBe('{"a":1, "b": 2,}')
    expect(removeJson(['b'])('{"a":1, "b": 2,}')).toBe('{"a":1, }')
    expect(removeJson(['a'])('{"a":1, "b": 2}')).toBe('{"b": 2}')
  })

  test('removes an only property with a trailing comma, the last item of a one-line list, and no comment above', () => {
    expect(jsonAt(removeJson(['a'])('{"a":1,}'), [])).toEqual({})
    expect(removeItemJson(['tokens'], 1)('{"tokens": [1, 2]}')).toBe('{"tokens": [1 ]}')
    expect(removeJson(['b'])('{\n  "a": 1, // one\n  // two\n  "b": 2\n}')).toBe('{\n  "a": 1 // one\n  // two\n}')
  })

  test('appends to a list, or creates it', () => {
    expect(appendJson(['tokens'], { name: 'b' })('{\n  "tokens": [\n    { "name": "a" } // first\n  ]\n}')).toBe(
      '{\n  "tokens": [\n    { "name": "a" }, // first\n    {\n      "name": "b"\n    }\n  ]\n}',
    )
    expect(jsonAt(appendJson(['tokens'], 1)('{}'), ['tokens'])).toEqual([1])
    expect(() => appendJson(['tokens'], 1)('{"tokens": {}}')).toThrow(EditError)
  })

  test('removes a list item with its comment, and the list with its last item', () => {
    const before = '{\n  "tokens": [\n    { "name": "a" } // first\n  ]\n}'
    const both = appendJson(['tokens'], { name: 'b' })(before)
    expect(removeItemJson(['tokens'], 1)(both)).toBe(before)
    expect(removeItemJson(['tokens'], 0)(both)).toBe('{\n  "tokens": [\n    {\n      "name": "b"\n    }\n  ]\n}')
    expect(removeItemJson(['tokens'], 0)('{"a": 1, "tokens": [1]}')).toBe('{"a": 1 }')
    expect(removeItemJson(['tokens'], 0)('{"tokens": [1, 2]}')).toBe('{"tokens": [2]}')
    expect(() => removeItemJson(['tokens'], 0)('{"tokens": {}}')).toThrow(EditError)
  })

  test('rejects invalid JSON, duplicate keys and endless nesting', () => {
    const deep = [200, 200_000].map((levels) => `{ "a": ${'['.repeat(levels)}${']'.repeat(levels)} }`)
    for (const text of ['{', '[]', '{"a": 1, "a": 2}', '{"mcpServers": []}', '{"mcpServers": "none"}', ...deep])
      expect(() => setJson(['mcpServers', 'a'], 1)(text)).toThrow(EditError)
  })
})

/** A way to format a value: whitespace and comments are inserted wherever they are allowed. */
const gaps = ['', ' ', '\n', '\n\n  ', ' // remark "with" {brackets}\n', '/* block, */', '\t', '\n  /* a */ // b\n  ']

function written(value: unknown, gap: () => string, hasTrailing: () => boolean): string {
  const join = (items: readonly string[]): string =>
    items.map((item, at) => `${gap()}${item}${gap()}${at < items.length - 1 || hasTrailing() ? `,${gap()}` : ''}`).join('')
  if (Array.isArray(value)) return `[${gap()}${join(value.map((each) => written(each, gap, hasTrailing)))}${gap()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const pairs = Object.entries(value).map(
    ([key, each]) => `${JSON.stringify(key)}${gap()}:${gap()}${written(each, gap, hasTrailing)}`,
  )
  return `{${gap()}${join(pairs)}${gap()}}`
}

const commentsIn = (text: string): readonly string[] => text.match(/\/\/ \w+|\/\* ?\w+/gu) ?? []

test('for any formatting, setting and removing a value changes nothing else and loses no comment', () => {
  const leaf = fc.oneof(fc.integer(), fc.string({ maxLength: 4 }), fc.boolean(), fc.constant(null))
  const key = fc.string({ maxLength: 3 }).filter((name) => name !== '__proto__')
  const inner = fc.dictionary(key, fc.oneof(leaf, fc.array(leaf, { maxLength: 3 }), fc.dictionary(key, leaf, { maxKeys: 2 })), {
    maxKeys: 4,
  })
  fc.assert(
    fc.property(inner, inner, fc.infiniteStream(fc.nat()), (others, servers, stream) => {
      const numbers = stream[Symbol.iterator]()
      const next = (): number => numbers.next().value ?? 0
      const given = written(
        { ...others, mcpServers: servers },
        () => gaps[next() % gaps.length] ?? '',
        () => next() % 3 === 0,
      )
      const before = jsonAt(given, []) as Record<string, unknown>
      const after = setJson(['mcpServers', 'unfold'], { url: 'x', args: ['y'] })(given)
      expect(jsonAt(after, [])).toEqual({ ...before, mcpServers: { ...servers, unfold: { url: 'x', args: ['y'] } } })
      expect(commentsIn(after)).toEqual(commentsIn(given))
      const back = removeJson(['mcpServers', 'unfold'])(after)
      expect(jsonAt(back, [])).toEqual(before)
      for (const name of Object.keys(servers)) {
        const { [name]: _, ...rest } = servers
        expect(jsonAt(removeJson(['mcpServers', name])(given), ['mcpServers'])).toEqual(rest)
      }
    }),
    propertyRuns({ long: 400, sample: 100 }),
  )
})
