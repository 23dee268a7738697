import { execFileSync, spawn } from 'node:child_process'
import { expect, test } from 'vitest'

test('a unit test can start synchronous child processes only', () => {
  expect(() => spawn(process.execPath, ['--version'])).toThrow(/A unit test started .*Rename the file to \*\.e2e\.test\.ts/u)
  expect(execFileSync(process.execPath, ['--version'], { encoding: 'utf8' })).toContain(process.version)
})
