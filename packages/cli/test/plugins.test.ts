import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Home, home, main, processesWith } from './command.ts'

const plugin = (name: string): string =>
  `export default { tools: [{ name: '${name}', description: 'Says ${name}.', handler: () => '${name}' }] }\n`

async function folderIn({ folder }: Home): Promise<string> {
  const plugins = join(folder, 'plugins')
  await mkdir(plugins)
  await writeFile(join(plugins, 'hello.mjs'), plugin('hello'))
  return plugins
}

test('a folder of plugins is served, and the process ends with its parent', async () => {
  await using at = await home()
  const plugins = await folderIn(at)
  const served = ['--', process.execPath, main, 'plugins', 'serve', plugins]
  expect(await at.unfold(['call', 'hello', ...served])).toMatchObject({ code: 0, stdout: 'hello\n' })
  expect(await processesWith(plugins)).toEqual([])
})

test('missing arguments are reported before anything is served', async () => {
  await using at = await home()
  expect((await at.unfold(['plugins', 'serve'])).code).toBe(2)
  expect((await at.unfold(['plugins', 'serve', '.', '--http', 'soon'])).code).toBe(2)
  const none = await at.unfold(['plugins', 'serve', 'nowhere'])
  expect(none.code).toBe(1)
  expect(none.stderr).toContain('does not exist. Create it, or pass another path.')
})

test('over HTTP it serves until interrupted', async () => {
  await using at = await home()
  const plugins = await folderIn(at)
  let called: Promise<{ code: number | null; stdout: string }> | undefined
  const ended = await at.unfold(['plugins', 'serve', plugins, '--http', '0'], {
    meanwhile: (child) => {
      const look = setInterval(() => {
        const [, url] = /Serving on (\S+)/u.exec(child.stderr()) ?? []
        if (url === undefined) return
        clearInterval(look)
        called = at.unfold(['call', url, 'hello']).finally(() => child.kill('SIGINT'))
      }, 20)
      setTimeout(() => clearInterval(look), 15_000).unref()
    },
  })
  expect(await called).toMatchObject({ code: 0, stdout: 'hello\n' })
  expect(ended.code).toBe(0)
  expect(await processesWith(plugins)).toEqual([])
})
