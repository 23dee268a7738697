// Builds the web dashboard into static files with hashed names.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { root } from './workspaces.mjs'

export const dashboard = 'packages/dashboard'
const folder = join(root, dashboard)
const output = join(folder, 'dist')

/** Returns whether the dashboard was built. */
export const hasDashboard = () => existsSync(join(output, 'index.html'))

/** Bundles the dashboard. esbuild prints errors before this throws. */
export async function buildDashboard() {
  // Loaded here because npm may have installed it just now.
  const { build } = createRequire(import.meta.url)('esbuild')
  const { metafile, outputFiles } = await build({
    entryPoints: [join(folder, 'src/main.tsx'), join(folder, 'src/theme/theme.css'), join(folder, 'src/theme/early.ts')],
    outdir: join(output, 'assets'),
    absWorkingDir: root,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome120', 'firefox121', 'safari17'],
    conditions: ['@unfold-mcp/source'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    write: false,
  })
  const nameOf = (entry) => {
    const [path] = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint?.endsWith(entry)) ?? []
    return `assets/${basename(path)}`
  }
  const page = readFileSync(join(folder, 'src/index.html'), 'utf8')
    .replace('theme/early.ts', nameOf('theme/early.ts'))
    .replace('theme/theme.css', nameOf('theme/theme.css'))
    .replace('main.tsx', nameOf('main.tsx'))
  // Written after a successful build only. The page comes last: it names the other files.
  mkdirSync(join(output, 'assets'), { recursive: true })
  for (const { path, contents } of outputFiles) writeFileSync(path, contents)
  writeFileSync(join(output, 'LICENSES.txt'), licenses())
  writeFileSync(join(output, 'index.html'), page)
  const current = new Set(outputFiles.map(({ path }) => basename(path)))
  for (const name of readdirSync(join(output, 'assets'))) if (!current.has(name)) rmSync(join(output, 'assets', name))
}

/** Licence of the only third-party code in the bundle. */
function licenses() {
  const installed = [join(folder, 'node_modules/preact'), join(root, 'node_modules/preact')].find((path) => existsSync(path))
  const { version, license } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  return `preact ${version} (${license})\n\n${readFileSync(join(installed, 'LICENSE'), 'utf8')}`
}
