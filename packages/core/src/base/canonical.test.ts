import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson } from './canonical.ts'

/** The double with these bits, as RFC 8785 writes its test vectors. */
function double(bits: string): number {
  const view = new DataView(new ArrayBuffer(8))
  view.setBigUint64(0, BigInt(`0x${bits}`))
  return view.getFloat64(0)
}

describe('the numbers of RFC 8785, appendix B', () => {
  test.each([
    ['0000000000000000', '0'],
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['8000000000000001', '-5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['ffefffffffffffff', '-1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'],
    ['c340000000000000', '-9007199254740992'],
    ['4430000000000000', '295147905179352830000'],
    ['44b52d02c7e14af5', '9.999999999999997e+22'],
    ['44b52d02c7e14af6', '1e+23'],
    ['44b52d02c7e14af7', '1.0000000000000001e+23'],
    ['444b1ae4d6e2ef4e', '999999999999999700000'],
    ['444b1ae4d6e2ef4f', '999999999999999900000'],
    ['444b1ae4d6e2ef50', '1e+21'],
    ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['41b3de4355555553', '333333333.3333332'],
    ['41b3de4355555554', '333333333.33333325'],
    ['41b3de4355555555', '333333333.3333333'],
    ['41b3de4355555556', '333333333.3333334'],
    ['41b3de4355555557', '333333333.33333343'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
    ['43143ff3c1cb0959', '1424953923781206.2'],
  ])('%s is serialized as %s', (bits, text) => {
    expect(canonicalJson(double(bits))).toBe(text)
  })

  test.each(['7fffffffffffffff', '7ff0000000000000', 'fff0000000000000'])('%s is rejected', (bits) => {
    expect(() => canonicalJson({ value: double(bits) })).toThrow(TypeError)
  })
})

test('the sample object of RFC 8785, section 3.2.2, is serialized as in the RFC', () => {
  const sample: unknown = JSON.parse(String.raw`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`)
  expect(canonicalJson(sample)).toBe(
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  )
})

test('keys are sorted by UTF-16 code units, as in RFC 8785, section 3.2.3', () => {
  const sample: unknown = JSON.parse(String.raw`{
    "\u20ac": "Euro Sign",
    "\r": "Carriage Return",
    "\ufb33": "Hebrew Letter Dalet With Dagesh",
    "1": "One",
    "\ud83d\ude00": "Emoji: Grinning Face",
    "\u0080": "Control",
    "\u00f6": "Latin Small Letter O With Diaeresis"
  }`)
  expect(Object.values(JSON.parse(canonicalJson(sample)) as object)).toEqual([
    // A parsed object lists a key that looks like an index first, regardless of its position in the text.
    'One',
    'Carriage Return',
    'Control',
    'Latin Small Letter O With Diaeresis',
    'Euro Sign',
    'Emoji: Grinning Face',
    'Hebrew Letter Dalet With Dagesh',
  ])
  expect(canonicalJson(sample).startsWith(String.raw`{"\r":"Carriage Return","1":"One","`)).toBe(true)
})

test('unusual keys and texts are escaped only where necessary', () => {
  const sample = {
    '\u20ac': 'Euro Sign',
    '\r': 'Carriage Return',
    '\n': 'Newline',
    1: 'One',
    '\u0080': 'Control\u007f',
    '\u{1f602}': 'Smiley',
    '\u00f6': 'Latin Small Letter O With Diaeresis',
    '\ufb33': 'Hebrew Letter Dalet With Dagesh',
    '</script>': 'Browser Challenge',
  }
  expect(canonicalJson(sample)).toBe(
    [
      String.raw`{"\n":"Newline","\r":"Carriage Return","1":"One","</script>":"Browser Challenge",`,
      '"\u0080":"Control\u007f","\u00f6":"Latin Small Letter O With Diaeresis","\u20ac":"Euro Sign",',
      '"\u{1f602}":"Smiley","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    ].join(''),
  )
})

test('nested structures are sorted at every level, arrays keep their order', () => {
  const sample = { 1: { f: { f: 'hi', F: 5 }, '\n': 56 }, 10: {}, '': 'empty', a: {}, 111: [{ e: 'yes', E: 'no' }], A: {} }
  expect(canonicalJson(sample)).toBe(
    String.raw`{"":"empty","1":{"\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{"E":"no","e":"yes"}],"A":{},"a":{}}`,
  )
})

test('the original key order does not matter', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const turned = Object.fromEntries(Object.entries(value).reverse())
      expect(canonicalJson(turned)).toBe(canonicalJson(value))
    }),
  )
})

test('parsing the text returns the value, and serializing it again returns the same text', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value)
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
      expect(canonicalJson(JSON.parse(text))).toBe(text)
    }),
  )
})

test('a key named __proto__ is an ordinary key', () => {
  expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"a":1}}'))).toBe('{"__proto__":{"a":1},"b":1}')
})

test('values that JSON does not support are omitted from objects and become null in arrays', () => {
  const nothing = [undefined, () => 1, Symbol('s')]
  expect(canonicalJson({ a: undefined, b: () => 1, c: Symbol('s'), d: 1 })).toBe('{"d":1}')
  expect(canonicalJson(nothing)).toBe('[null,null,null]')
  expect(nothing.map(canonicalJson)).toEqual(['null', 'null', 'null'])
})

test('a gap in an array is null', () => {
  const gaps: unknown[] = []
  gaps[2] = 'x'
  expect(canonicalJson(gaps)).toBe('[null,null,"x"]')
})

test('toJSON is used', () => {
  expect(canonicalJson({ at: new Date(0) })).toBe('{"at":"1970-01-01T00:00:00.000Z"}')
})

test('a bigint is rejected', () => {
  expect(() => canonicalJson([1n])).toThrow('JSON has no bigint')
})

test('a cycle is rejected', () => {
  const ring: { next?: unknown } = {}
  ring.next = [ring]
  expect(() => canonicalJson(ring)).toThrow('JSON has no cycles')
})

test('the same object in two positions is not a cycle', () => {
  const shared = { a: 1 }
  expect(canonicalJson([shared, { shared }])).toBe('[{"a":1},{"shared":{"a":1}}]')
})

/** The same result by a simple, slow implementation. */
function slowly(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(slowly).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([key, item]) => `${JSON.stringify(key)}:${slowly(item)}`).join(',')}}`
}

test('the text matches a straightforward implementation of the RFC', () => {
  const text = fc.string({
    unit: fc.oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      fc.constantFrom('"', '\\', '\n', '\u007f', '\u2028', '\ud800', '\udc00', '\ue000'),
    ),
  })
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.double({ noDefaultInfinity: true, noNaN: true }),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 5 }),
      fc.dictionary(fc.oneof(text, fc.nat(20).map(String)), tie('value'), { maxKeys: 40 }),
    ),
  }))
  fc.assert(
    fc.property(value, (each) => {
      expect(canonicalJson(each)).toBe(slowly(each))
    }),
    { numRuns: 150 },
  )
})

test('objects with very many keys are sorted as well', () => {
  const keys = Array.from({ length: 3_000 }, (_, i) => `key_${(i * 7_919) % 3_000}`)
  const text = canonicalJson(Object.fromEntries(keys.map((key) => [key, 1])))
  expect(text).toBe(
    `{${keys
      .toSorted()
      .map((key) => `"${key}":1`)
      .join(',')}}`,
  )
  expect(canonicalJson(Object.fromEntries(keys.toReversed().map((key) => [key, 1])))).toBe(text)
})
