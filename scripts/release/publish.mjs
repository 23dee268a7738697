// npm run release:publish: publishes the packages whose versions are not on the registry yet. Run by the release workflow.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tool } from '../processes.mjs'
import { packages, readManifest, root } from '../workspaces.mjs'
import { notesOf } from './changelog.mjs'
import { readChangesets } from './changesets.mjs'

const { GITHUB_REPOSITORY: repository, GITHUB_REF_TYPE: refType, GITHUB_REF_NAME: refName } = process.env
const { version } = readManifest('packages/core')
const notes = notesOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version)

if (readChangesets().length > 0) fail('Unreleased changesets found. Run "npm run release:version" and commit the result.')
if (notes === undefined) fail(`CHANGELOG.md has no section for ${version}. "npm run release:version" writes it.`)
if (refType === 'tag' && refName !== `v${version}`) fail(`The tag is ${refName}, but the packages have version ${version}.`)

// npm rejects provenance unless package.json names the repository that the workflow runs in.
if (repository !== undefined) for (const folder of packages) setRepository(folder, `git+https://github.com/${repository}.git`)

// The maintainer creates one tag for all packages, so changesets must not create one per package.
const { code } = await tool('@changesets/cli/bin.js', ['publish', '--no-git-tag'], { stdio: 'inherit' })
process.exitCode = code

function setRepository(folder, url) {
  const manifest = { ...readManifest(folder), repository: { type: 'git', url, directory: folder } }
  writeFileSync(join(root, folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
}

function fail(problem) {
  console.error(problem)
  process.exit(1)
}
