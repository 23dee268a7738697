// Reads the changesets, one file per unreleased change.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from '../workspaces.mjs'
import { categories } from './changelog.mjs'

const folder = join(root, '.changeset')

/** Returns the changelog entries of all changesets; ends the process if one has no category. */
export function readChangesets() {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .sort()
    .map((name) => entryOf(name, readFileSync(join(folder, name), 'utf8')))
}

function entryOf(name, text) {
  const summary = text.split(/^---$/m).slice(2).join('---').trim()
  const [, category, entry] = /^(\w+): (.+)$/s.exec(summary) ?? []
  if (!categories.includes(category)) fail(name)
  return { category, entry }
}

function fail(name) {
  console.error(`.changeset/${name}: the text must start with ${categories.map((each) => `"${each}: "`).join(', ')}`)
  process.exit(1)
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) readChangesets()
