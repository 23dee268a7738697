import { expect, test } from 'vitest'
import { absoluteUri } from './uri-reference.ts'

// RFC 3986, section 5.4.
test.each([
  ['g:h', 'g:h'],
  ['g', 'http://a/b/c/g'],
  ['./g', 'http://a/b/c/g'],
  ['g/', 'http://a/b/c/g/'],
  ['/g', 'http://a/g'],
  ['//g', 'http://g/'],
  ['?y', 'http://a/b/c/d;p?y'],
  ['g?y', 'http://a/b/c/g?y'],
  ['', 'http://a/b/c/d;p?q'],
  ['.', 'http://a/b/c/'],
  ['..', 'http://a/b/'],
  ['../g', 'http://a/b/g'],
  ['../../g', 'http://a/g'],
  ['../../../../g', 'http://a/g'],
  ['/./g', 'http://a/g'],
  ['g..', 'http://a/b/c/g..'],
])('%j relative to http://a/b/c/d;p?q is %s', (reference, expected) => {
  expect(absoluteUri(reference, 'http://a/b/c/d;p?q')).toBe(expected)
})

test('without a base, a reference is unchanged', () => {
  expect(absoluteUri('item.json', '')).toBe('item.json')
})

test('scheme and host are case-insensitive, and a host alone has the path /', () => {
  expect(absoluteUri('HTTP://Example.com', '')).toBe('http://example.com/')
})
