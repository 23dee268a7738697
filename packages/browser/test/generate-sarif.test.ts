import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sarif } from '../src/generate/sarif/sarif.ts'
import type { Audit, AuditFault } from '../src/records/records.ts'
import { fault, RecordSequence } from './generate-records.ts'
import { sarifErrors } from './generate-schemas.ts'

const page = 'http://127.0.0.1:4000/cart?step=[2]'

function audited(...faults: readonly AuditFault[]): Audit {
  return new RecordSequence().audit(page, faults)
}

test('the log is valid against the published schema', () => {
  const log = sarif(audited(fault('image-alt', 'critical'), fault('region', 'moderate')), { version: '1.2.3' })
  expect(sarifErrors(log)).toBeNull()
})

test('the schema check works: it rejects an invalid log', () => {
  const log = sarif(audited(fault('image-alt', 'critical')), { version: '1.2.3' })
  expect(sarifErrors({ ...log, version: '2.0.0' })).not.toBeNull()
  expect(sarifErrors({ ...log, runs: [{ ...log.runs[0], results: [{ level: 'fatal' }] }] })).not.toBeNull()
})

test('each element with a violation is a result, with its location and severity', () => {
  const elements = ['#a', '#b'].map((selector) => ({ selector, html: `<img id="${selector}">`, summary: 'Fix it' }))
  const [run] = sarif(audited(fault('image-alt', 'serious', { elements, count: 2 }), fault('region', 'minor')), {
    version: '1',
  }).runs
  expect(run.results.map(({ ruleId, ruleIndex, level }) => [ruleId, ruleIndex, level])).toEqual([
    ['image-alt', 0, 'error'],
    ['image-alt', 0, 'error'],
    ['region', 1, 'note'],
  ])
  expect(run.results[1]?.locations).toEqual([
    {
      physicalLocation: {
        artifactLocation: { uri: 'http://127.0.0.1:4000/cart?step=%5B2%5D', index: 0 },
        region: { startLine: 1, snippet: { text: '<img id="#b">' } },
      },
      logicalLocations: [{ fullyQualifiedName: '#b', kind: 'element' }],
    },
  ])
  expect(run.tool.driver.rules[0]).toMatchObject({
    id: 'image-alt',
    helpUri: 'https://dequeuniversity.com/rules/axe/4.14/image-alt?application=axeAPI',
    defaultConfiguration: { level: 'error' },
  })
})

test('a violation has the same unique fingerprint in every audit', () => {
  const [image, same, region] = [fault('image-alt', 'minor'), fault('image-alt', 'critical'), fault('region', 'minor')]
  const prints = (...faults: readonly AuditFault[]): readonly string[] =>
    sarif(audited(...faults), { version: '1' }).runs[0].results.map((result) => result.partialFingerprints['ruleAndElement/v1'])
  const all = prints(region, image, same)
  expect(new Set(all).size).toBe(3)
  expect(prints(image)).toEqual([all[1]])
})

test('page text cannot become a placeholder or link in a message', () => {
  const elements = [{ selector: 'a', html: '<a>', summary: 'see [here](http://evil.example) and {0}' }]
  const [run] = sarif(audited(fault('link-name', 'serious', { elements })), { version: '1' }).runs
  expect(run.results[0]?.message.text).toBe('Help for link-name. see [here] (http://evil.example) and {{0}}')
})

test('omissions are reported', () => {
  const [run] = sarif(audited(fault('image-alt', 'minor', { count: 30 }), fault('region', 'minor')), {
    version: '1',
    limit: 1_200,
  }).runs
  expect(run.results).toHaveLength(1)
  expect(run.invocations[0]?.toolExecutionNotifications.map(({ message }) => message.text)).toEqual([
    'image-alt: 30 elements have this fault; 1 of them are listed.',
    '1 more results are left out.',
  ])
})

const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom('', '\u0000', '\ud800', '{0}](x)', '"><script>', 'x'.repeat(5_000), 'http://[', 'http://a/\\|^`{}[]%zz#a#b'),
)

test('the log is valid for any audit', () => {
  const faults = fc.array(
    fc.record({
      rule: hostile,
      impact: fc.constantFrom('minor' as const, 'moderate' as const, 'serious' as const, 'critical' as const),
      help: hostile,
      description: hostile,
      helpUrl: hostile,
      tags: fc.array(hostile, { maxLength: 4 }),
      elements: fc.array(fc.record({ selector: hostile, html: hostile, summary: hostile }), { maxLength: 3 }),
      count: fc.nat(),
    }),
    { maxLength: 4 },
  )
  fc.assert(
    fc.property(hostile, faults, fc.double(), (url, all, at) => {
      const audit: Audit = { ...audited(...all), url, at }
      const log = sarif(audit, { version: '1' })
      expect(sarifErrors(log)).toBeNull()
      expect(sarif(audit, { version: '1' })).toEqual(log)
    }),
    { numRuns: 200 },
  )
})
