// Part of npm run fences: writes llms.txt (https://llmstxt.org) from the README and the index of the guides. `--check` changes nothing.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { root } from './workspaces.mjs'

const file = 'llms.txt'
const index = 'docs/guides/README.md'
// The format reserves this title for pages that a model can skip.
const skippable = new Map([['Project', 'Optional']])

const before = existsSync(join(root, file)) ? read(file) : ''
const after = rendered(read('README.md'), read(index))
if (after === before) process.exitCode = 0
else if (process.argv.includes('--check')) {
  console.error(`${file} is out of date: run npm run fences`)
  process.exitCode = 1
} else writeFileSync(join(root, file), after)

function rendered(readme, guides) {
  const [title, summary, introduction] = readme.split('\n\n')
  const sections = guides.split(/^## /mu).slice(1).map(section)
  return `${[title, `> ${summary.replaceAll('**', '')}`, introduction, ...sections].join('\n\n')}\n`
}

/** Converts one section of the index, whose table rows have a link and a description. */
function section(text) {
  const [title, ...lines] = text.trim().split('\n')
  const rows = lines.map((line) => /^\| \[(.+?)\]\((\S+?)\) +\| (.+?) +\|$/u.exec(line)).filter((row) => row !== null)
  const links = rows.map(
    ([, name, target, description]) => `- [${name}](${posix.join(posix.dirname(index), target)}): ${description}`,
  )
  return [`## ${skippable.get(title) ?? title}`, '', ...links].join('\n')
}

function read(path) {
  return readFileSync(join(root, path), 'utf8')
}
