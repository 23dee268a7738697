import { copyFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { home } from '../../packages/cli/test/command.ts'
import { parseConfig } from '../../packages/gateway/src/config/read.ts'

const examples = new URL('../../docs/examples/', import.meta.url)

test.each(['policy.json', 'policy-arguments.json'])('%s is a valid configuration', async (name) => {
  const text = await readFile(new URL(name, examples), 'utf8')
  expect(() => parseConfig(text, { file: name, environment: {} })).not.toThrow()
})

// Without a running gateway, so that the output does not depend on a server.
test.skipIf(process.platform === 'win32')('unfold policy test explains the example of the guide', async () => {
  await using at = await home()
  await copyFile(new URL('policy.json', examples), join(at.folder, 'unfold.json'))
  const input = '{"path":"/home/me/project/../.ssh/authorized_keys","content":""}'
  const { stdout, code } = await at.unfold(['policy', 'test', 'files__write_file', input])
  expect(code).toBe(0)
  await expect(`$ unfold policy test files__write_file '${input}'\n${stdout}`).toMatchFileSnapshot(
    '../../docs/examples/output/policy-test.txt',
  )
})
