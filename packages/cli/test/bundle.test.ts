import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { until } from '../../client/test/processes.ts'
import { home, servers } from './command.ts'

const bundle = fileURLToPath(new URL('../bundle/', import.meta.url))
const [command, ...args] = servers.desk

test('the published bundle serves a gateway, persists its data, exports metrics, and includes third-party licences', async () => {
  await using place = await home()
  const file = join(place.folder, 'unfold.json')
  await writeFile(file, JSON.stringify({ mcpServers: { desk: { command, args } } }))
  // On the second start its tools are known before the server is running.
  for (const _round of ['first', 'again']) {
    const child = spawn(process.execPath, [join(bundle, 'main.js'), 'serve', file, '--http', '0', '--json'], {
      env: place.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const exit = once(child, 'exit')
    try {
      const [line] = await once(createInterface({ input: child.stdout }), 'line')
      const { url } = JSON.parse(String(line)) as { url: string }
      await until(async () => (await fetch(new URL('/readyz', url))).ok, 'it has tools to serve')
      const listed = await place.unfold(['list', url, '--json'])
      expect(listed.stdout).toContain('desk__')
      const metrics = await (await fetch(new URL('/metrics', url))).text()
      expect(metrics).toContain('unfold_upstream_tools{upstream="desk"}')
      expect(metrics).toContain('nodejs_version_info')
    } finally {
      child.kill('SIGTERM')
      await exit
    }
    expect(child.exitCode).toBe(0)
  }
  const licences = await readFile(join(bundle, 'LICENSES.txt'), 'utf8')
  expect(licences).toMatch(/^zod \S+ \(MIT\)$/mu)
  // The word table is part of the bundle, and its sources are not packages of it.
  expect(licences).toContain('derived from GloVe word vectors')
  expect(licences).toContain('GRAYPE Systems Private Limited')
})

test('the word table is a file that only a search reads', async () => {
  await using place = await home()
  const table = join(bundle, 'table-data.json')
  const { words } = JSON.parse(await readFile(table, 'utf8')) as { words: string }
  const chunks = (await readdir(bundle)).filter((name) => name.endsWith('.js'))
  const texts = await Promise.all(chunks.map((name) => readFile(join(bundle, name), 'utf8')))
  expect(texts.filter((text) => text.includes(words.slice(0, 200)))).toEqual([])
  const found = await place.unfold(['search', 'desk', '--', ...servers.desk])
  expect(found.stderr).toBe('')
  expect(found.stdout).not.toBe('')
})

/** Returns the packages in the chunks that a chunk imports statically, directly or not. */
async function packagesLoadedBy(chunk: string): Promise<readonly string[]> {
  const chunks = new Set([chunk])
  const packages = new Set<string>()
  for (const each of chunks) {
    const text = await readFile(join(bundle, each), 'utf8')
    for (const [, imported = ''] of text.matchAll(/^(?:import|\}).*"\.\/([^"]+\.js)";$/gmu)) chunks.add(imported)
    for (const [, name = ''] of text.matchAll(/^\/\/ (?:node_modules|packages)\/((?:@[^/]+\/)?[^/]+)\//gmu)) packages.add(name)
  }
  return [...packages].toSorted()
}

test('a command loads the client, the gateway and their libraries only if it needs them', async () => {
  const [, run = ''] = /import\("\.\/(run-[^"]+)"\)/u.exec(await readFile(join(bundle, 'main.js'), 'utf8')) ?? []
  expect(await packagesLoadedBy(run)).toEqual(['cli', 'core'])
  const chunks = await readdir(bundle)
  const list = chunks.find((name) => /^list-\w+\.js$/u.test(name)) ?? ''
  const loaded = await packagesLoadedBy(list)
  expect(loaded).toEqual(expect.arrayContaining(['client', '@modelcontextprotocol/client', 'zod']))
  expect(loaded).not.toContain('gateway')
})

test('the bundle has only the parts of zod that are used', async () => {
  const chunks = (await readdir(bundle)).filter((name) => name.endsWith('.js'))
  const texts = await Promise.all(chunks.map((name) => readFile(join(bundle, name), 'utf8')))
  const locales = texts.flatMap((text) => [...text.matchAll(/^\/\/ node_modules\/zod\/v4\/locales\/(\w+)\.js$/gmu)])
  // `import { z } from 'zod'` would include all languages, `import * as z from 'zod'` does not.
  expect(locales.map(([, name]) => name)).toEqual(['en'])
})
