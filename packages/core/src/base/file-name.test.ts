import { expect, test } from 'vitest'
import { fileNameFor } from './file-name.ts'

test.each([
  ['draw', 'image/png', 'draw-1.png'],
  ['draw', 'Text/Markdown; charset=utf-8', 'draw-1.md'],
  ['../../etc/pässwd', 'constructor', '______etc_p_sswd-1.bin'],
  ['x'.repeat(100), '', `${'x'.repeat(60)}-1.bin`],
])('a result part of %s with the type "%s" is saved as %s', (tool, mimeType, name) => {
  expect(fileNameFor(tool, mimeType, '1')).toBe(name)
})
