import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'

const maxFirstScreenBytes = 150_000
const read = (name: string): string => readFileSync(new URL(`../dist/${name}`, import.meta.url), 'utf8')

/** Files that a browser loads for the first screen: those of the page, and what they import statically. */
function firstScreen(): ReadonlySet<string> {
  const files = new Set(['index.html'])
  for (const file of files)
    for (const [, name] of read(file).matchAll(/(?:src=|href=|from|import)\s*"(?:\.\/)?((?:assets\/)?[\w-]+\.(?:js|css))"/gu))
      if (name !== undefined) files.add(name.startsWith('assets/') ? name : `assets/${name}`)
  return files
}

test('the first screen takes at most 150 kB compressed, and names no other host', () => {
  const files = [...firstScreen()]
  expect(files.map((file) => file.replace(/-[A-Z0-9]+\./u, '.'))).toEqual(
    expect.arrayContaining(['index.html', 'assets/main.js', 'assets/theme.css', 'assets/early.js']),
  )
  expect(files.reduce((sum, file) => sum + gzipSync(read(file)).length, 0)).toBeLessThanOrEqual(maxFirstScreenBytes)
  // Namespaces of SVG and MathML are no addresses.
  for (const file of files)
    expect(read(file).replaceAll(/http:\/\/www\.w3\.org\/[\w/]+/gu, '')).not.toMatch(/https?:\/\/(?!127\.0\.0\.1)/u)
})
