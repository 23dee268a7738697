import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const picture = fileURLToPath(new URL('../../docs/pictures/terminal.svg', import.meta.url))
const script = fileURLToPath(new URL('../../docs/pictures/terminal.mjs', import.meta.url))

test('the terminal picture in the README shows the current output (update: npm run pictures -- terminal)', async () => {
  await expect(promisify(execFile)(process.execPath, [script, '--check'])).resolves.toMatchObject({ stderr: '' })
}, 600_000)

test('the terminal picture has no script, follows the theme and respects prefers-reduced-motion', async () => {
  const text = await readFile(picture, 'utf8')
  expect((await stat(picture)).size).toBeLessThan(60_000)
  expect(text).not.toMatch(/<script|\bon\w+=|href=|url\((?!#)/u)
  expect(text).toContain('@media (prefers-color-scheme: dark)')
  const [still = '', moving = ''] = text.split('@media (prefers-reduced-motion: no-preference)')
  expect(still).not.toContain('animation:')
  expect(moving).toContain('animation:')
})
