// npm run release:version: turns the changesets into a version number and a section of CHANGELOG.md.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeLockedManifests } from '../lockfile.mjs'
import { tool } from '../processes.mjs'
import { ensureInstalled } from '../setup.mjs'
import { packages, readManifest, root } from '../workspaces.mjs'
import { withRelease } from './changelog.mjs'
import { readChangesets } from './changesets.mjs'
import { versionConstants } from './version-constants.mjs'

await ensureInstalled()
const entries = readChangesets()
if (entries.length === 0) {
  console.error('Nothing to release: no changesets found. Add one with "npm run changeset".')
  process.exit(1)
}
const { code } = await tool('@changesets/cli/bin.js', ['version'], { stdio: 'inherit' })
if (code !== 0) process.exit(code)

// All packages have the same version.
const { version } = readManifest('packages/core')
for (const { file } of packages.flatMap(versionConstants))
  writeFileSync(join(root, file), `export const version = '${version}'\n`)
writeLockedManifests()
const changelog = join(root, 'CHANGELOG.md')
const date = new Date().toISOString().slice(0, 10)
writeFileSync(changelog, withRelease(readFileSync(changelog, 'utf8'), { version, date, entries }))
console.error(`Version ${version}. Review and commit the changes, then push the tag v${version} when they are on main.`)
