import { expect, test } from 'vitest'
import { plain } from '../text/style.ts'
import { diffLines } from './diff.ts'

test('a long line is cut to its change, and secrets are masked', () => {
  const before = `{"key": "sk-longer-secret", "short": "secret", ${'"x": 1, '.repeat(50)}"end": 1}`
  const after = before.replace('"end": 1', '"end": 2, "key2": "sk-longer-secret"')
  const lines = diffLines(before, after, { style: plain, mask: (text) => text.replaceAll('sk-longer-secret', '***') })
  expect(lines).toHaveLength(2)
  expect(lines[0]).toMatch(/^- 1 {2}….*"end": 1\}$/u)
  expect(lines[1]).toMatch(/^\+ 1 {2}….*"end": 2, "key2": "\*\*\*"\}$/u)
  for (const line of lines) expect(line.length).toBeLessThan(220)
})

test('a line that differs only in a secret is shown as changed, and text with lost lines is hidden', () => {
  const hidden = (text: string) => text.replaceAll(/pw\d/gu, '***')
  expect(diffLines('a\npw1\n', 'a\npw2\n', { style: plain, mask: hidden })).toEqual(['- 2  ***', '+ 2  ***'])
  expect(diffLines('a\npw1\n', 'a\npw2\n', { style: plain, mask: () => 'pw1' })).toEqual(['- 2  ***', '+ 2  ***'])
})
