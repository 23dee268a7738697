// Copies code from files that compile into the documentation. The first line of a fence names its source:
//   ```ts source="docs/examples/first-server.ts#tools"    between `//#region tools` and its `//#endregion`, dedented
//   ```ts source="docs/examples/first-server.ts#all"      the whole file
//   ```json source="examples/unfold.json"                 the whole file
// The demo numbers in the README come from the recorded output of the demo.
// `--check` changes nothing and reports where a page differs.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withDemoNumbers } from './demo-numbers.mjs'
import { manifest, packages, root } from './workspaces.mjs'

const sourced = new Set(['ts', 'tsx', 'typescript', 'js', 'jsx', 'mjs', 'javascript', 'json', 'jsonc'])
const shell = new Set(['sh', 'bash', 'shell'])
const demoOutput = 'docs/examples/output/npm-start.txt'
const marker = /^\s*\/\/\s*#(region|endregion)\b\s*(.*?)\s*$/

const isCheck = process.argv.includes('--check')
const problems = []
let changed = 0

for (const page of pages()) {
  const before = readFileSync(join(root, page), 'utf8')
  const after = page === 'README.md' ? withNumbers(rewritten(page, before)) : rewritten(page, before)
  if (after === before) continue
  changed += 1
  if (!isCheck) writeFileSync(join(root, page), after)
}
for (const problem of problems) console.error(problem)
if (!isCheck && changed > 0) console.error(`Updated ${changed} page(s).`)
if (problems.length > 0) process.exitCode = 1

/** Updates the demo numbers in the README, which are outside fences. */
function withNumbers(text) {
  const numbered = withDemoNumbers(text, readFileSync(join(root, demoOutput), 'utf8'))
  if (isCheck && numbered !== text) problems.push(`README.md: numbers differ from ${demoOutput}; run \`npm run fences\``)
  return numbered
}

function pages() {
  const docs = existsSync(join(root, 'docs')) ? readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }) : []
  return ['README.md', 'site/index.md', ...packages.map((folder) => `${folder}/README.md`), ...docs.map((name) => `docs/${name}`)]
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.md') && existsSync(join(root, path)))
}

function rewritten(page, text) {
  const lines = text.split('\n')
  const out = []
  for (let at = 0; at < lines.length; at += 1) {
    out.push(lines[at])
    const [, indent, ticks, language, rest] = /^(\s*)(`{3,})(\S*)(.*)$/.exec(lines[at]) ?? []
    if (ticks === undefined) continue
    const end = lines.findIndex((line, index) => index > at && line.trim() === ticks)
    const where = `${page}:${at + 1}`
    if (end === -1) {
      problems.push(`${where}: code fence is not closed`)
      return text
    }
    const body = lines.slice(at + 1, end)
    out.push(...checkedBody({ where, language, body, indent, source: /\bsource="([^"]*)"/.exec(rest)?.[1] }), lines[end])
    at = end
  }
  return out.join('\n')
}

/** Returns the expected body of a fence and records a problem if the current one is wrong. */
function checkedBody({ where, language, body, indent, source }) {
  if (source === undefined) {
    const problem = problemWithoutSource(language, body)
    if (problem !== undefined) problems.push(`${where}: ${problem}`)
    return body
  }
  try {
    const wanted = codeOf(source).map((line) => (line === '' ? '' : indent + line))
    if (isCheck && wanted.join('\n') !== body.join('\n')) {
      problems.push(`${where}: differs from ${source}; run \`npm run fences\``)
    }
    return wanted
  } catch (error) {
    problems.push(`${where}: ${error.message}`)
    return body
  }
}

function problemWithoutSource(language, body) {
  if (language === '') return 'code fence has no language (use `text` or `console` for plain text)'
  if (sourced.has(language)) return `a ${language} fence needs source="path#region"`
  if (!shell.has(language)) return undefined
  const unknown = body.flatMap(npmScriptsIn).filter((script) => manifest.scripts[script] === undefined)
  return unknown.length > 0 ? `package.json has no script ${unknown.join(', ')}` : undefined
}

function npmScriptsIn(line) {
  return [...line.matchAll(/\bnpm (?:(?:run|run-script) (?:-\S+ )*([\w:.-]+)|(start|test)\b)/g)].map(
    ([, script, short]) => script ?? short,
  )
}

function codeOf(source) {
  const [path, region] = source.split('#')
  if (!existsSync(join(root, path))) throw new Error(`${path} does not exist`)
  const lines = readFileSync(join(root, path), 'utf8').trimEnd().split('\n')
  if (path.endsWith('.json')) return lines
  if (region === undefined) throw new Error(`source="${source}" has no region (#all for the whole file)`)
  return dedented((region === 'all' ? lines : linesOfRegion(lines, region, path)).filter((line) => !marker.test(line)))
}

function linesOfRegion(lines, name, path) {
  const start = lines.findIndex((line) => marker.exec(line)?.[1] === 'region' && marker.exec(line)[2] === name)
  if (start === -1) throw new Error(`${path} has no //#region ${name}`)
  let depth = 0
  for (let at = start; at < lines.length; at += 1) {
    const kind = marker.exec(lines[at])?.[1]
    if (kind === 'region') depth += 1
    if (kind === 'endregion') depth -= 1
    if (depth === 0) return lines.slice(start + 1, at)
  }
  throw new Error(`${path}: //#region ${name} is not closed`)
}

function dedented(lines) {
  const depth = Math.min(...lines.filter((line) => line.trim() !== '').map((line) => /^\s*/.exec(line)[0].length))
  return lines.map((line) => line.slice(depth))
}
