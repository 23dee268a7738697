// The unfold command in few files: a program of several hundred modules takes twice as long to start.
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { root } from './workspaces.mjs'

const cli = join(root, 'packages/cli')
const folder = join(cli, 'bundle')

// Of these the command has its own: they hold native code, are loaded late, or belong to the program that is watched.
const apart = ['ajv', 'libsql', 'pino', 'prom-client', '@opentelemetry/api']

// They run in processes and threads of their own.
const programs = [
  ['gateway/dist/upstreams/process', 'guard.mjs'],
  ['server/dist/plugins', 'child.mjs'],
  ['server/dist/plugins', 'watchdog.mjs'],
]

/** Whether the command was put together before. */
export const isBundled = () => existsSync(join(folder, 'main.js'))

/** Puts the command together from what the compiler made; throws where that cannot be done, having said why. */
export async function bundle() {
  rmSync(folder, { recursive: true, force: true })
  // Only now, because it may have been installed a moment ago.
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
    // What some packages have for `require` cannot be put together with the rest.
    mainFields: ['module', 'main'],
    external: apart,
    // Packages of the older kind ask for modules of Node in the older way.
    banner: { js: "import{createRequire as requireOf}from'node:module';const require=requireOf(import.meta.url);" },
    sourcemap: true,
    sourcesContent: false,
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
  })
  for (const [from, name] of programs) copyFileSync(join(root, 'packages', from, name), join(folder, name))
  writeFileSync(join(folder, 'LICENSES.txt'), licensesOf(Object.keys(metafile.inputs)))
}

/** The licences of all that others wrote and that is part of it. */
function licensesOf(files) {
  const names = files.flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/.exec(file)?.[1] ?? [])
  return [...new Set(names)]
    .sort((a, b) => a.localeCompare(b))
    .map(licenseOf)
    .join('\n')
}

function licenseOf(name) {
  const of = join(root, 'node_modules', name)
  const { version, license } = JSON.parse(readFileSync(join(of, 'package.json'), 'utf8'))
  const file = ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'license', 'LICENCE'].find((each) => existsSync(join(of, each)))
  const text = file === undefined ? `${license}\n` : readFileSync(join(of, file), 'utf8')
  return `${name} ${version} (${license})\n\n${text}\n${'-'.repeat(80)}\n`
}
