import { spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Result } from './judgement.ts'

/** The installed conformance suite. */
export interface Suite {
  readonly command: string
  readonly script: string
}

/** Options of one run: all scenarios of a revision, or a single one. */
export type Selection = { readonly revision: string } | { readonly scenario: string }

/** Installs the suite if necessary; `undefined` if the registry is unreachable. */
export async function installedSuite(): Promise<Suite | undefined> {
  const { code, output, errors } = await run(process.execPath, [fileURLToPath(new URL('install.mjs', import.meta.url))])
  if (code === 75) return undefined
  if (code !== 0) throw new Error(errors)
  return JSON.parse(output) as Suite
}

/** Lists the server scenarios with their revisions; `extension` for optional extensions. */
export async function scenariosOf(suite: Suite): Promise<ReadonlyMap<string, readonly string[]>> {
  const { output } = await run(suite.command, [suite.script, 'list', '--server'])
  return new Map([...output.matchAll(/^ {2}- (\S+) \[(.+)\]$/gm)].map(([, name = '', marks = '']) => [name, marks.split(',')]))
}

/** Starts a server for this era at a local address. */
export type Serve = (era: string) => Promise<AsyncDisposable & { readonly url: string }>

/** Runs scenarios of the suite against the server with this URL. */
export async function resultsOf(
  suite: Suite,
  { selection, url, signal }: { readonly selection: Selection; readonly url: string; readonly signal: AbortSignal },
): Promise<readonly Result[]> {
  const folder = await mkdtemp(join(tmpdir(), 'unfold-conformance-'))
  try {
    const chosen =
      'revision' in selection ? ['--suite', 'all', '--spec-version', selection.revision] : ['--scenario', selection.scenario]
    const { errors } = await run(suite.command, [suite.script, 'server', '--url', url, '--output-dir', folder, ...chosen], signal)
    const found = await readdir(folder)
    if (found.length === 0) throw new Error(`The suite ran no scenarios: ${errors}`)
    return await Promise.all(found.map((name) => readResult(folder, name)))
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
}

/** Result folders are named `server-<scenario>-<time>`. */
async function readResult(folder: string, name: string): Promise<Result> {
  const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(name)?.[1] ?? name
  return { scenario, checks: JSON.parse(await readFile(join(folder, name, 'checks.json'), 'utf8')) }
}

function run(command: string, args: readonly string[], signal?: AbortSignal) {
  return new Promise<{ code: number | null; output: string; errors: string }>((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...(signal !== undefined && { signal }) })
    let output = ''
    let errors = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
    child.stderr.on('data', (chunk: Buffer) => {
      errors += chunk.toString()
    })
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, output, errors }))
  })
}
