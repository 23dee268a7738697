import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromiumPath } from './chromium.ts'

/** The exit code and output of a process. */
export interface Outcome {
  readonly code: number
  readonly output: string
}

const modules = dirname(dirname(dirname(fileURLToPath(import.meta.resolve('@playwright/test/package.json')))))
const playwright = fileURLToPath(import.meta.resolve('@playwright/test/cli'))
const compiler = join(modules, 'typescript', 'bin', 'tsc')
const maxMs = 110_000

/** Runs a script with Node in a temporary folder that resolves our packages. */
export function runScript(code: string, environment: Readonly<Record<string, string>> = {}): Promise<Outcome> {
  return inFolder('reproduction.mjs', code, (folder) =>
    run([join(folder, 'reproduction.mjs')], folder, { ...inChromium(), ...environment }),
  )
}

/** Runs a test with Playwright's own runner in a temporary folder. */
export function runSpec(code: string, environment: Readonly<Record<string, string>> = {}): Promise<Outcome> {
  const options = ['test', '--reporter=line', '--workers=1']
  return inFolder('recorded.spec.ts', code, (folder) =>
    run([playwright, ...options], folder, { ...inChromium(), ...environment }),
  )
}

/** Compiles a test in strict mode and returns the errors. */
export function compileSpec(code: string): Promise<Outcome> {
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--noUnusedLocals', '--target', 'es2023', '--lib', 'es2023,dom']
  const modern = ['--module', 'nodenext', '--types', 'node', 'recorded.spec.ts']
  return inFolder('recorded.spec.ts', code, (folder) => run([compiler, ...options, ...modern], folder, {}))
}

function inChromium(): Readonly<Record<string, string>> {
  return { UNFOLD_BROWSER_PATH: chromiumPath() }
}

async function inFolder(name: string, code: string, act: (folder: string) => Promise<Outcome>): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), 'unfold-generated-'))
  try {
    await symlink(modules, join(folder, 'node_modules'), 'junction')
    await writeFile(join(folder, name), code)
    return await act(folder)
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
}

function run(args: readonly string[], cwd: string, environment: Readonly<Record<string, string>>): Promise<Outcome> {
  // The environment of Vitest would change the behaviour of Playwright.
  const kept = Object.entries(process.env).filter(([name]) => !/^(?:VITEST|NODE_|TEST|DEV|PROD|MODE|FORCE_COLOR|npm_)/.test(name))
  const env = { ...Object.fromEntries(kept), NO_COLOR: '1', ...environment }
  return new Promise((resolve) => {
    execFile(process.execPath, [...args], { cwd, env, timeout: maxMs, maxBuffer: 4 * 1024 * 1024 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1
      resolve({ code, output: `${stdout}${stderr}` })
    })
  })
}
