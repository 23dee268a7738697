// Loading the several hundred modules of the library or an SDK takes about twice the CPU time of loading one file, for every start.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

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
  'packages/gateway/test/servers/toolbox.mjs',
  'test/fixtures/tool-file-server.mjs',
].map((path) => join(root, path))

const bundleOf = (path: string): string => join(dirname(path), 'dist', basename(path))

/** Returns the file to start for a test server: its bundle, if it has one. */
export function serverFile(url: URL): string {
  const path = fileURLToPath(url)
  return servers.includes(path) ? bundleOf(path) : path
}

/** Bundles the servers, before the tests. */
export default async function setup(): Promise<void> {
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    entryPoints: servers.map((path) => ({ in: path, out: relative(root, bundleOf(path)).replace(/\.mjs$/u, '') })),
    outdir: root,
    outExtension: { '.js': '.mjs' },
    write: false,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    mainFields: ['module', 'main'],
    banner: { js: "import{createRequire as requireOf}from'node:module';const require=requireOf(import.meta.url);" },
    logLevel: 'warning',
  })
  for (const { path, contents } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true })
    // Another run of the tests may be using it.
    const draft = `${path}.${process.pid}`
    writeFileSync(draft, contents)
    renameSync(draft, path)
  }
}
