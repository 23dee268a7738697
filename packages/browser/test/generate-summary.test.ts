import fc from 'fast-check'
import { expect, test } from 'vitest'
import { codeSpan } from '../src/generate/markdown.ts'
import { prSummary } from '../src/generate/pr-summary.ts'
import { fault, found, RecordSequence } from './generate-records.ts'

const page = 'http://shop.example/'

test('a reviewer sees the actions, the problems and the comparison with the baseline', () => {
  const sequence = new RecordSequence()
  const source = { url: `${page}shop.js?v=1`, line: 12, column: 3 }
  const summary = prSummary({
    actions: [
      sequence.action('navigation', page, { cause: 'typed' }),
      sequence.action('click', page, found('button', { role: { role: 'button', name: 'Save' } })),
      sequence.action('navigation', `${page}saved`, { cause: 'link' }),
    ],
    logs: [
      sequence.log('warning', 'old browser'),
      sequence.log('error', 'TypeError: x is undefined', { from: 'exception', source }),
      sequence.log('error', 'could not load'),
      sequence.log('error', 'could not load'),
      sequence.log('info', 'ready'),
    ],
    network: [
      sequence.request(page, { type: 'document' }),
      sequence.request(`${page}api/items?page=1`, { status: 500 }),
      sequence.request(`${page}api/items?page=2`, { status: 500 }),
      sequence.request(`${page}api/late`, { status: 0, failure: 'net::ERR_TIMED_OUT' }),
    ],
    performance: [
      {
        url: page,
        metrics: [
          { name: 'LCP', unit: 'ms', value: 1_234.5, baseline: 900, verdict: 'worse' },
          { name: 'CLS', unit: '', value: 0.01234 },
        ],
      },
    ],
    audits: [sequence.audit(page, [fault('region', 'moderate', { count: 3 }), fault('image-alt', 'critical')])],
  })
  expect(summary).toBe(`## Tried in the browser

2 pages, 3 actions, 4 requests.

### What was done

- \`http://shop.example/\`: 2 actions
- \`http://shop.example/saved\`: 1 action

At last:

1. \`open http://shop.example/\`
2. \`click button “Save”\`

### Errors and warnings

- 2 errors: \`could not load\`
- 1 exception: \`TypeError: x is undefined\` at \`http://shop.example/shop.js:12\`
- 1 warning: \`old browser\`

### Requests that failed

- \`GET http://shop.example/api/items\`: status 500, 2 times
- \`GET http://shop.example/api/late\`: \`net::ERR_TIMED_OUT\`, 1 time

### Performance

- \`http://shop.example/\`: LCP 1235 ms (before 900 ms, worse), CLS 0.012

### Accessibility

- critical: \`Help for image-alt\` (\`image-alt\`), 1 element on \`http://shop.example/\`
- moderate: \`Help for region\` (\`region\`), 3 elements on \`http://shop.example/\`
`)
})

test('sections without data are omitted', () => {
  const sequence = new RecordSequence()
  expect(prSummary({ logs: [sequence.log('info', 'ready')], network: [sequence.request(page)] })).toBe(`## Tried in the browser

1 page, 0 actions, 1 request.

### What was done

- \`http://shop.example/\`: 0 actions

### Errors and warnings

None in the console.

### Requests that failed

None.
`)
})

test('only the newest audit of a page counts', () => {
  const sequence = new RecordSequence()
  const audits = [sequence.audit(page, [fault('image-alt', 'critical')]), sequence.audit(page, [])]
  expect(prSummary({ audits })).toContain('No faults on 1 page.')
})

test('the summary is bounded and reports the remaining numbers', () => {
  const sequence = new RecordSequence()
  const many = Array.from({ length: 500 }, (_, i) => `${page}${'x'.repeat(300)}/${i}`)
  const summary = prSummary({
    actions: many.map((url) => sequence.action('click', url, found('a'.repeat(900)))),
    logs: many.map((text) => sequence.log('error', text.repeat(5))),
    network: many.map((url) => sequence.request(url, { status: 404 })),
    performance: many.map((url) => ({ url, metrics: [{ name: 'LCP', unit: 'ms', value: 1 }] })),
    audits: many.map((url) => sequence.audit(url, [fault('image-alt', 'minor')])),
  })
  expect(summary.trimEnd().split('\n').length).toBeLessThanOrEqual(60)
  expect(summary.length).toBeLessThan(12_000)
  expect(summary).toContain('- … and 493 more')
})

test('page text is an inline code span: no link, HTML, mention or issue reference', () => {
  expect(codeSpan('fixes #1 @somebody <img src=x> [a](b)')).toBe('`fixes #1 @somebody <img src=x> [a](b)`')
  expect(codeSpan('`</code>` and ``')).toBe('``` `</code>` and `` ```')
  expect(codeSpan('\n\n# title\r\n- item')).toBe('`# title - item`')
  expect(codeSpan('a\u202eb\u0000')).toBe('`a\\u202eb\\u0000`')
  expect(codeSpan('   ')).toBe('(empty)')
})

test('no text terminates its code span', () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom('`', ' ', 'a', '\n', '\\') }))
  fc.assert(
    fc.property(text, (content) => {
      const span = codeSpan(content)
      if (span === '(empty)') return
      const [, fence = ''] = /^(`+)/.exec(span) ?? []
      const inside = span.slice(fence.length, -fence.length)
      expect(span).not.toMatch(/[\n\r]/)
      expect(span.endsWith(fence)).toBe(true)
      expect(inside.match(/`+/g) ?? []).not.toContain(fence)
      expect(inside).not.toMatch(/^`|`$/)
    }),
    { numRuns: 500 },
  )
})
