import { execFileSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** The search of an earlier commit, compiled into a temporary folder. */
export interface EarlierSearch {
  readonly commit: string
  readonly folder: string
  /** URL of the module with `SearchIndex`. */
  readonly module: string
}

/** Compiles the search of a commit of this repository; the caller removes the folder. */
export function compileEarlier(commit: string): EarlierSearch {
  const folder = mkdtempSync(join(tmpdir(), 'unfold-search-'))
  const archive = join(folder, 'core.tar')
  execFileSync('git', ['archive', '--output', archive, commit, 'packages/core/src', 'tsconfig.base.json'], { cwd: root })
  execFileSync('tar', ['-xf', archive, '-C', folder])
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const compilerOptions = {
    noCheck: true,
    types: [],
    declaration: false,
    declarationMap: false,
    outDir: 'dist',
    rootDir: 'packages/core/src',
  }
  const config = { extends: './tsconfig.base.json', compilerOptions, files: ['packages/core/src/search/search-index.ts'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  execFileSync(process.execPath, [compiler, '-p', folder], { stdio: 'inherit' })
  return { commit, folder, module: pathToFileURL(join(folder, 'dist/search/search-index.js')).href }
}
