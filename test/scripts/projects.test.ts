import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import type { TestSpecification, Vitest } from 'vitest/node'
import { LongestFirst, slowFiles } from '../longest-first.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Returns the output lines of a command in the root folder. */
async function lines(command: string, args: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)(command, args, { cwd: root, maxBuffer: 1 << 26 })
  return stdout.split('\n').filter((line) => line !== '')
}

test('each test file belongs to exactly one project', { timeout: 300_000 }, async () => {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const listed = await lines(process.execPath, [vitest, 'list', '--filesOnly', '--json'])
  const found: readonly { readonly file: string; readonly projectName: string }[] = JSON.parse(listed.join('\n'))
  const files = await lines('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate', '*.test.ts'])
  const deleted = new Set(await lines('git', ['ls-files', '--deleted']))
  expect(found.map(({ file }) => file.slice(root.length)).sort()).toEqual(files.filter((file) => !deleted.has(file)).sort())
  const projects = new Set(found.map(({ projectName }) => projectName))
  expect([...projects].sort()).toEqual(['browser', 'conformance', 'e2e', 'hosts', 'unit'])
  // The order in which the files start.
  expect(slowFiles.filter((file) => !files.includes(file))).toEqual([])
})

test('slow files start first in their group, and files of e2e last', async () => {
  const specification = (file: string, name: string, groupOrder: number) =>
    ({
      moduleId: join(root, file),
      project: { name, config: { sequence: { groupOrder }, isolate: false } },
    }) as unknown as TestSpecification
  const cache = { getFileTestResults: () => undefined, getFileStats: () => undefined }
  const sequencer = new LongestFirst({ config: { root }, cache } as unknown as Vitest)
  const [first = '', second = '', third = ''] = slowFiles
  const files = [
    specification('test/a.test.ts', 'e2e', 1),
    specification('packages/browser/test/a.test.ts', 'browser', 1),
    specification(third, 'e2e', 1),
    specification(second, 'browser', 1),
    specification(first, 'conformance', 1),
    specification('packages/core/src/a.test.ts', 'unit', 0),
  ]
  const sorted = (await sequencer.sort(files)).map(({ moduleId }) => moduleId.slice(root.length))
  expect(sorted).toEqual([
    'packages/core/src/a.test.ts',
    first,
    second,
    'packages/browser/test/a.test.ts',
    third,
    'test/a.test.ts',
  ])
})
