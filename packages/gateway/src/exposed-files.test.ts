import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { configSchema } from './config/schema.ts'
import { exposedFiles } from './exposed-files.ts'

let base = ''
beforeAll(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'unfold-exposed-')))
  await mkdir(join(base, 'me', 'data', 'run'), { recursive: true })
  await mkdir(join(base, 'me', 'project', 'src'), { recursive: true })
  await writeFile(join(base, 'me', 'project', 'unfold.json'), '{}')
  await symlink(join(base, 'me'), join(base, 'link'))
})
afterAll(() => rm(base, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))

async function messageFor(server: { readonly args?: readonly string[]; readonly cwd?: string; readonly disabled?: boolean }) {
  const config = configSchema.parse({
    mcpServers: { files: { command: 'server', ...server }, remote: { url: 'https://a.example' } },
  })
  const files = { file: join(base, 'me', 'project', 'unfold.json'), home: join(base, 'me', 'data') }
  const [first, ...others] = await exposedFiles(config, files)
  expect(others).toEqual([])
  expect(first?.upstream ?? 'files').toBe('files')
  return first?.message
}

test('a folder with the data folder or the configuration is reported, however it is written', async () => {
  const [me, data, project] = ['me', 'me/data', 'me/project'].map((path) => join(base, path)) as [string, string, string]
  expect(await messageFor({ args: ['server.js', me] })).toBe(
    `args[1] ${me} contains ${data} (tokens) and ${project}/unfold.json (the configuration) of this gateway, which a model could read or change through this server. Use a narrower folder, or move the files: set UNFOLD_HOME, or serve a configuration from another folder.`,
  )
  expect(await messageFor({ args: [data] })).toContain(`${data} (tokens) of this gateway`)
  expect(await messageFor({ args: ['.'] })).toContain(`${project}/unfold.json (the configuration) of this gateway`)
  expect(await messageFor({ cwd: project })).toContain(`cwd ${project} contains`)
  for (const arg of [
    '/',
    '..',
    join(base, 'link'),
    `--root=${me}`,
    `${me}:/data:ro`,
    `type=bind,source=${me},target=/data`,
    pathToFileURL(me).href,
    join(project, 'unfold.json'),
  ])
    expect({ arg, message: await messageFor({ args: ['-v', arg] }) }).toEqual({
      arg,
      message: expect.stringContaining('args[1]'),
    })
})

test('other folders are not reported', async () => {
  for (const args of [
    [join(base, 'me', 'project', 'src')],
    [join(base, 'other')],
    ['data'],
    ['-e', '1/2'],
    [join(base, 'me', 'data', 'run')],
  ])
    expect(await messageFor({ args })).toBeUndefined()
  expect(await messageFor({})).toBeUndefined()
  expect(await messageFor({ args: [base], disabled: true })).toBeUndefined()
})
