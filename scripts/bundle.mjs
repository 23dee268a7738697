// Bundles the unfold command into a few files: several hundred modules take twice as long to load.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './workspaces.mjs'

const cli = join(root, 'packages/cli')
const folder = join(cli, 'bundle')

// Not bundled: native code, modules loaded on demand, or instances shared with the monitored program.
const external = [
  '@napi-rs/keyring',
  '@redis/client',
  'ajv',
  'libsql',
  'pino',
  'prom-client',
  'quickjs-wasi',
  '@opentelemetry/api',
]

// Started as separate processes or threads: the modules of a folder, which may import each other.
const programs = [
  ['gateway/dist/upstreams/process', /\.mjs$/u],
  ['server/dist/plugins', /\.mjs$/u],
  ['server/dist/scripts/quickjs', /\.mjs$/u],
]

/** Moves the word table of the search into a file of its own, read with the first tool of an index: most commands do not search. */
const tableOnDemand = {
  name: 'word table on demand',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]search[\\/]meaning[\\/]table-data\.js$/ }, async ({ path }) => {
      const { tableData } = await import(pathToFileURL(path).href)
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, 'table-data.json'), JSON.stringify(tableData()))
      return {
        contents: `import { readFileSync } from 'node:fs'
export const tableData = () => JSON.parse(readFileSync(new URL('table-data.json', import.meta.url), 'utf8'))`,
      }
    })
  },
}

/** Returns whether the bundle exists. */
export const isBundled = () => existsSync(join(folder, 'main.js'))

/** Bundles the compiled command. esbuild prints errors before this throws. */
export async function bundle() {
  rmSync(folder, { recursive: true, force: true })
  // Loaded here because npm may have installed it just now.
  const { build } = createRequire(import.meta.url)('esbuild')
  const { metafile } = await build({
    entryPoints: [join(cli, 'dist/main.js')],
    outdir: folder,
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    // Without this, packages resolve to CommonJS builds that cannot be bundled.
    mainFields: ['module', 'main'],
    external,
    plugins: [tableOnDemand],
    alias: { '@modelcontextprotocol/client/_shims': join(root, 'scripts/client-shims.mjs') },
    // CommonJS packages call require() for Node's built-in modules.
    banner: { js: "import{createRequire as requireOf}from'node:module';const require=requireOf(import.meta.url);" },
    sourcemap: true,
    sourcesContent: false,
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
  })
  for (const [from, names] of programs)
    for (const name of readdirSync(join(root, 'packages', from)).filter((each) => names.test(each)))
      copyFileSync(join(root, 'packages', from, name), join(folder, name))
  writeFileSync(join(folder, 'LICENSES.txt'), licensesOf(Object.keys(metafile.inputs)))
}

/** Returns the licences of all third-party packages in the bundle, and of the vectors that the word table is derived from. */
function licensesOf(files) {
  const names = files.flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/.exec(file)?.[1] ?? [])
  const notice = readFileSync(join(root, 'packages/core/NOTICE.txt'), 'utf8')
  return [...[...new Set(names)].sort((a, b) => a.localeCompare(b)).map(licenseOf), notice].join('\n')
}

function licenseOf(name) {
  const installed = join(root, 'node_modules', name)
  const { version, license } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  const file = ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'license', 'LICENCE'].find((each) => existsSync(join(installed, each)))
  const text = file === undefined ? `${license}\n` : readFileSync(join(installed, file), 'utf8')
  return `${name} ${version} (${license})\n\n${text}\n${'-'.repeat(80)}\n`
}
