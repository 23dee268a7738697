import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../../packages/cli/test/command.ts'
import { type Clone, cloneRepository } from './clone.ts'

interface Manifest {
  license: string
  version: string
  engines: { node: string }
  dependencies: Record<string, string>
}

interface Lock {
  readonly packages: Readonly<Record<string, { license: string }>>
}

describe('the checks of published packages', () => {
  let clone: Clone

  beforeAll(async () => {
    clone = await cloneRepository('all')
    // Most of the time goes into compressing the files of these packages. `npm run check` checks all packages as they are.
    for (const name of ['cli', 'core', 'gateway', 'server']) await clone.remove(`packages/${name}/dist`)
    await clone.remove('packages/cli/bundle')
  }, 300_000)

  afterAll(() => clone[Symbol.asyncDispose]())

  async function edit(file: string, change: (content: Manifest & Lock) => void): Promise<void> {
    const content = JSON.parse(await clone.read(file)) as Manifest & Lock
    change(content)
    await clone.write(file, JSON.stringify(content))
  }

  test('accept the current packages', { timeout: 300_000 }, async () => {
    expect(await clone.script('release/contents.mjs')).toMatchObject({ code: 0, stderr: '' })
    expect(await clone.script('release/licenses.mjs')).toMatchObject({ code: 0, stderr: '' })
  })

  test('report files that are missing, unnecessary or without a source', { timeout: 300_000 }, async () => {
    await clone.remove('packages/client/LICENSE')
    await clone.remove('packages/client/README.md')
    await clone.write('packages/client/dist/extra.test.js', '')
    await clone.write('packages/client/dist/connect.ts', '')
    await clone.write('packages/client/dist/renamed.js', '')
    const { code, stderr } = await clone.script('release/contents.mjs')
    expect(code).toBe(1)
    expect(stderr.trim().split('\n').toSorted()).toEqual([
      'packages/client/LICENSE: is missing in the packed files',
      'packages/client/README.md: is missing in the packed files',
      'packages/client/dist/connect.ts: must not be packed',
      'packages/client/dist/extra.test.js: has no source; run "npm run build"',
      'packages/client/dist/extra.test.js: must not be packed: it is a test or an example',
      'packages/client/dist/renamed.js: has no source; run "npm run build"',
    ])

    // The build does this first.
    const remove = "import { removeOutdatedOutput } from './scripts/outdated.mjs'; removeOutdatedOutput('packages/client')"
    await run(process.execPath, ['--input-type=module', '--eval', remove], { cwd: clone.folder, env: process.env })
    await clone.remove('packages/client/dist/connect.ts')
    await clone.write('packages/client/LICENSE', '')
    await clone.write('packages/client/README.md', '')
    expect(await clone.script('release/contents.mjs')).toMatchObject({ code: 0, stderr: '' })
  })

  test('report manifests that differ from the repository', { timeout: 300_000 }, async () => {
    await edit('packages/browser/package.json', (manifest) => {
      manifest.license = 'UNLICENSED'
      manifest.engines.node = '>=22'
      manifest.dependencies.zod = '^4.0.0'
      manifest.dependencies['@unfold-mcp/core'] = '0.0.1'
    })
    await edit('packages/gateway/package.json', (manifest) => {
      manifest.version = '99.0.0'
    })
    const { stderr } = await clone.script('release/contents.mjs')
    expect(stderr).toContain('packages/browser/package.json: license must be MIT\n')
    expect(stderr).toContain('packages/browser/package.json: engines.node must be >=20.19\n')
    expect(stderr).toContain('packages/browser/package.json: zod must have an exact version, not ^4.0.0\n')
    expect(stderr).toMatch(/packages\/browser\/package\.json: @unfold-mcp\/core must have version \d/u)
    expect(stderr).toContain('packages/gateway/src/base/version.ts: version must be 99.0.0\n')
  })

  test('report licences that are not allowed, including transitive dependencies', { timeout: 300_000 }, async () => {
    await edit('package-lock.json', ({ packages }) => {
      const set = (name: string, license: string): void => {
        const entry = packages[`node_modules/${name}`]
        if (entry === undefined) throw new Error(`${name} is no longer a dependency`)
        entry.license = license
      }
      set('fast-uri', 'GPL-3.0-only')
      set('pino', '(GPL-3.0-only OR MIT)')
      // Not installed with the packages.
      set('vitest', 'GPL-3.0-only')
    })
    const { code, stderr } = await clone.script('release/licenses.mjs')
    expect(code).toBe(1)
    expect(stderr).toMatch(/^fast-uri \S+: licence GPL-3\.0-only is not allowed\. See scripts\/release\/licenses\.mjs\.\n$/u)
  })
})
