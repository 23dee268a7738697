// Test servers and the unfold command start several hundred times per run. Loading the modules of the library or an SDK takes about twice
// the CPU time of loading one file, and compiling that file takes half of what is left; V8 can store the result.
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BuildOptions, Plugin } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const servers = [
  'packages/cli/test/servers/desk.mjs',
  'packages/cli/test/servers/gated.mjs',
  'packages/cli/test/servers/grouped.mjs',
  'packages/cli/test/servers/shared.mjs',
  'packages/cli/test/servers/troubled.mjs',
  'packages/cli/test/servers/vault.mjs',
  'packages/client/test/servers/identified.mjs',
  'packages/client/test/servers/library.mjs',
  'packages/client/test/servers/one.mjs',
  'packages/client/test/servers/two.mjs',
  'packages/gateway/test/servers/asking.mjs',
  'packages/gateway/test/servers/effects.mjs',
  'packages/gateway/test/servers/script-effects.mjs',
  'packages/gateway/test/servers/toolbox.mjs',
  'test/fixtures/tool-file-server.mjs',
].map((path) => join(root, path))

const cli = join(root, 'packages/cli')
const published = join(cli, 'bundle/main.js')
const stored = join(cli, 'test/dist/unfold.cjs')

/**
 * The command as published. On Node 20, its code in one file: a gateway then starts in 70 % of the CPU time. Newer versions of Node store
 * the compiled code of the published files.
 */
export const commandFile: string = Number.parseInt(process.versions.node, 10) < 22 ? stored : published

const bundleOf = (path: string): string => join(dirname(path), 'dist', `${basename(path, '.mjs')}.cjs`)

/** Returns the file to start for a test server: its bundle, if it has one. */
export function serverFile(url: URL): string {
  const path = fileURLToPath(url)
  return servers.includes(path) ? bundleOf(path) : path
}

/** Moves the code after the imports into an async function: CommonJS has no top-level await. */
const withoutTopLevelAwait: Plugin = {
  name: 'without top-level await',
  setup(build) {
    build.onLoad({ filter: /\.mjs$|[\\/]main\.js$/ }, async ({ path }) => {
      if (path !== published && !servers.includes(path)) return undefined
      const source = (await readFile(path, 'utf8')).replace(/^#!.*/u, '')
      const end =
        [...source.matchAll(/^import [^;]*? from ['"][^'"]+['"];?$/gmu)]
          .map(({ 0: text, index }) => index + text.length)
          .at(-1) ?? 0
      return { contents: `${source.slice(0, end)}\nvoid (async () => {${source.slice(end)}\n})()\n` }
    })
  },
}

const options = {
  outdir: root,
  outExtension: { '.js': '.cjs' },
  write: false,
  bundle: true,
  // The code of ECMAScript modules cannot be stored.
  format: 'cjs',
  platform: 'node',
  target: 'node20.19',
  mainFields: ['module', 'main'],
  define: { 'import.meta.url': 'moduleUrl' },
  minifyWhitespace: true,
  plugins: [withoutTopLevelAwait],
  logLevel: 'warning',
} satisfies BuildOptions

/** Bundles the servers and the command, before the tests. */
export default async function setup(): Promise<void> {
  const { build } = await import('esbuild')
  const out = (path: string): string => relative(root, path).replace(/\.cjs$/u, '')
  const [bundles, command] = await Promise.all([
    build({ ...options, entryPoints: servers.map((path) => ({ in: path, out: out(bundleOf(path)) })) }),
    // Its dependencies are part of the published files, except those that cannot be: they are required, because `import()` does not work
    // in stored code.
    build({
      ...options,
      entryPoints: commandFile === stored ? [{ in: published, out: out(stored) }] : [],
      packages: 'external',
      supported: { 'dynamic-import': false },
    }),
  ])
  for (const { path, contents } of bundles.outputFiles) writeProgram(path, contents)
  // The command finds the other published files next to its module.
  for (const { path, contents } of command.outputFiles) writeProgram(path, contents, published)
}

/** Writes a bundle, and the program that runs it as if it were `module`. */
function writeProgram(path: string, contents: Uint8Array, module?: string): void {
  const folder = dirname(path)
  const name = basename(path, '.cjs')
  // V8 compares only the length of the source, so changed code needs another name.
  const code = `${name}-${createHash('sha256').update(contents).digest('hex').slice(0, 16)}`
  mkdirSync(folder, { recursive: true })
  replaceFile(join(folder, `${code}.js`), contents)
  replaceFile(path, starter(code, module))
  for (const file of readdirSync(folder))
    if (file.startsWith(`${name}-`) && !file.startsWith(code)) rmSync(join(folder, file), { force: true })
}

/**
 * Returns a program that runs a bundle as a module (default: the bundle itself). The first process that exits stores the compiled code
 * for others with the same verb.
 */
const starter = (code: string, module?: string): string => `'use strict'
const { readFileSync, renameSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')
const { constants, Script } = require('node:vm')
const filename = join(__dirname, '${code}.js')
const verb = /^[a-z]+$/.test(process.argv[2]) ? '-' + process.argv[2] : ''
const stored = join(__dirname, '${code}' + verb + '.cache')
let cachedData
try {
  cachedData = readFileSync(stored)
} catch {}
const names = 'exports, require, module, __filename, __dirname, moduleUrl'
// esbuild escapes all characters that are not ASCII, and V8 reads latin1 without decoding.
const script = new Script('(function (' + names + ') {' + readFileSync(filename, 'latin1') + '\\n})', {
  filename,
  cachedData,
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
})
if (cachedData === undefined || script.cachedDataRejected)
  process.once('exit', () => {
    try {
      writeFileSync(stored + '.' + process.pid, script.createCachedData())
      renameSync(stored + '.' + process.pid, stored)
    } catch {}
  })
script.runInThisContext()(exports, require, module, filename, __dirname, pathToFileURL(${module === undefined ? 'filename' : JSON.stringify(module)}).href)
`

/** Writes a file that another run of the tests may be reading. */
function replaceFile(path: string, contents: string | Uint8Array): void {
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, contents)
  renameSync(draft, path)
}
