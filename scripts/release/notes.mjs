// npm run -s release:notes: prints the section of CHANGELOG.md for the current version.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readManifest, root } from '../workspaces.mjs'
import { notesOf } from './changelog.mjs'

const { version } = readManifest('packages/core')
const notes = notesOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version)
if (notes === undefined) {
  console.error(`CHANGELOG.md has no section for ${version}`)
  process.exit(1)
}
console.log(notes)
