import { mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../../packages/cli/test/command.ts'
import { type Clone, cloneRepository, root } from './clone.ts'
import { type Registry, startRegistry } from './registry.ts'

interface Manifest {
  readonly name: string
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

const scope = '@unfold-mcp/'

describe('a release, in a copy of the repository with a local registry', () => {
  let clone: Clone
  let registry: Registry
  let next = ''
  const manifest = async (folder: string) => JSON.parse(await clone.read(`${folder}/package.json`)) as Manifest
  const packages = async () => (await readdir(join(clone.folder, 'packages'))).map((name) => `packages/${name}`)
  const publish = (env: NodeJS.ProcessEnv = {}) =>
    clone.script('release/publish.mjs', {
      GITHUB_REPOSITORY: 'someone/unfold',
      GITHUB_REF_TYPE: 'tag',
      GITHUB_REF_NAME: `v${next}`,
      npm_config_registry: registry.url,
      npm_config_userconfig: join(clone.folder, 'npmrc'),
      // npm sets these for its scripts, and they take precedence over the user's configuration.
      npm_config_globalconfig: join(clone.folder, 'global-npmrc'),
      CI: 'true',
      ...env,
    })

  beforeAll(async () => {
    // Without these, the scripts of the copy would install dependencies.
    const install = "import { ensureInstalled } from './scripts/setup.mjs'; await ensureInstalled()"
    await run(process.execPath, ['--input-type=module', '--eval', install, 'setup'], { cwd: root, env: process.env })
    ;[clone, registry] = await Promise.all([cloneRepository('command'), startRegistry()])
    await clone.write('npmrc', `${registry.url.replace(/^http:/u, '')}:_authToken=test\n`)
    const [major, minor] = (await manifest('packages/core')).version.split('.').map(Number)
    next = `${major}.${(minor ?? 0) + 1}.0`
  }, 300_000)

  afterAll(async () => {
    await registry[Symbol.asyncDispose]()
    await clone[Symbol.asyncDispose]()
  })

  test('needs a changeset, and each changeset must have a category', { timeout: 300_000 }, async () => {
    const before = await clone.read('CHANGELOG.md')
    expect(await clone.script('release/version.mjs')).toMatchObject({
      code: 1,
      stderr: 'Nothing to release: no changesets found. Add one with "npm run changeset".\n',
    })
    await clone.write('.changeset/one.md', '---\n"@unfold-mcp/core": patch\n---\n\nSomething\n')
    const failed = await clone.script('release/version.mjs')
    expect(failed.code).toBe(1)
    expect(failed.stderr).toMatch(/^\.changeset\/one\.md: the text must start with "Added: "/u)
    expect(await clone.read('CHANGELOG.md')).toBe(before)
  })

  test('gives all workspaces the next version and moves the changes to its section', { timeout: 300_000 }, async () => {
    const before = await clone.read('CHANGELOG.md')
    const peers = (await manifest('packages/client')).peerDependencies
    await clone.write('.changeset/one.md', '---\n"@unfold-mcp/core": patch\n---\n\nFixed: a small thing\nin two lines\n')
    await clone.write('.changeset/two.md', '---\n"@unfold-mcp/server": minor\n---\n\nSecurity: a large thing\n')
    expect(await publish()).toMatchObject({ code: 1, stderr: expect.stringContaining('Unreleased changesets found') })
    expect(await clone.script('release/version.mjs')).toMatchObject({ code: 0 })

    for (const folder of [...(await packages()), 'examples', 'bench', 'test', 'docs']) {
      const { name, version, dependencies = {} } = await manifest(folder)
      expect({ name, version }).toEqual({ name, version: next })
      const own = Object.entries(dependencies).filter(([dependency]) => dependency.startsWith(scope))
      expect(own.filter(([, range]) => range !== next)).toEqual([])
    }
    expect((await manifest('packages/client')).peerDependencies).toEqual(peers)
    expect(await clone.read('packages/gateway/src/base/version.ts')).toBe(`export const version = '${next}'\n`)
    expect(await clone.read('packages/client/src/version.ts')).toBe(`export const version = '${next}'\n`)
    expect(await clone.script('lockfile.mjs')).toMatchObject({ code: 0, stderr: '' })

    const changelog = await clone.read('CHANGELOG.md')
    expect(changelog).toMatch(new RegExp(`^## \\[Unreleased\\]\n\n## \\[${next}\\] - \\d{4}-\\d\\d-\\d\\d\n\n`, 'mu'))
    const kept = changelog.split('\n')
    expect(before.split('\n').filter((line) => !kept.includes(line))).toEqual([])
    const notes = (await clone.script('release/notes.mjs')).stdout
    expect(notes).toMatch(/^### Fixed$[^#]*^- a small thing\n {2}in two lines$/mu)
    expect(notes).toMatch(/^### Security\n\n- a large thing$/mu)
  })

  test('is not published if the tag has a different version', { timeout: 300_000 }, async () => {
    const refused = await publish({ GITHUB_REF_NAME: 'v9.9.9' })
    expect(refused).toMatchObject({ code: 1, stderr: `The tag is v9.9.9, but the packages have version ${next}.\n` })
    expect(registry.published).toEqual([])
  })

  test('publishes exactly the packages, each with its repository, and only once', { timeout: 300_000 }, async () => {
    const first = await publish()
    expect(first.stdout + first.stderr).toContain('published successfully')
    expect(first.code).toBe(0)
    const folders = await packages()
    const names = await Promise.all(folders.map(async (folder) => (await manifest(folder)).name))
    expect(registry.published.map(({ name }) => name).toSorted()).toEqual(names.toSorted())
    expect(registry.published.map(({ version }) => version)).toEqual(folders.map(() => next))
    expect(new Set(registry.published.map(({ repository }) => repository?.directory))).toEqual(new Set(folders))
    expect(new Set(registry.published.map(({ repository }) => repository?.url))).toEqual(
      new Set(['git+https://github.com/someone/unfold.git']),
    )
    expect([...registry.access]).toEqual(['public'])

    expect(await publish()).toMatchObject({ code: 0 })
    expect(registry.published).toHaveLength(folders.length)
  })

  test('npx runs the published command in an empty folder', { timeout: 300_000 }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'unfold-npx-'))
    try {
      const cache = (await run('npm', ['config', 'get', 'cache'], { cwd: root, env: process.env })).stdout.trim()
      // npx installs into its cache; only the downloads are shared with other runs.
      await mkdir(join(cache, '_cacache'), { recursive: true })
      await mkdir(join(folder, 'cache'))
      await mkdir(join(folder, 'empty'))
      await symlink(join(cache, '_cacache'), join(folder, 'cache/_cacache'))
      const options = [
        '--yes',
        `--${scope.slice(0, -1)}:registry=${registry.url}`,
        '--prefer-offline',
        '--cache',
        join(folder, 'cache'),
      ]
      const shown = await run('npx', [...options, '@unfold-mcp/cli', '--version'], {
        cwd: join(folder, 'empty'),
        env: process.env,
      })
      expect(shown).toMatchObject({ code: 0, stdout: `${next}\n` })
      expect(await readdir(join(folder, 'empty'))).toEqual([])
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    }
  })
})
