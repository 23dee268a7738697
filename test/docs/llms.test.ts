import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const text = readFileSync(join(root, 'llms.txt'), 'utf8')
const links = [...text.matchAll(/^- \[.+?\]\((\S+?)\): \S.*$/gmu)].map(([, path = '']) => path)

test('llms.txt has a title, a summary and sections of links with descriptions', () => {
  expect(text).toMatch(/^# Unfold\n\n> \S.*\n\n/u)
  const [, ...sections] = text.split(/^## /mu)
  expect(sections.length).toBeGreaterThan(3)
  for (const section of sections) expect(section).toMatch(/^.+\n\n(?:- \[.+\]\(\S+\): .+\n)+\n?$/u)
})

test('llms.txt lists every guide once, and every file in it exists', () => {
  const guides = readdirSync(join(root, 'docs/guides')).filter((name) => name !== 'README.md')
  expect(links.filter((path) => path.startsWith('docs/guides/')).toSorted()).toEqual(
    guides.map((name) => `docs/guides/${name}`).toSorted(),
  )
  expect(links.filter((path) => !existsSync(join(root, path)))).toEqual([])
  expect(new Set(links).size).toBe(links.length)
})

test('llms.txt is what npm run fences writes', async () => {
  await promisify(execFile)(process.execPath, [join(root, 'scripts/llms.mjs'), '--check'])
})
