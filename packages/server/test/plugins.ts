import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { defineToolbox, type Report } from '../src/index.ts'
import { type PluginFolder, type PluginFolderOptions, pluginFolder } from '../src/plugins/index.ts'
import { type TestClient, testServer, type Way } from '../src/testing/index.ts'

/** A folder of plugins on the real disk, followed and served to a real client, until it is disposed of. */
export interface Workshop extends AsyncDisposable {
  readonly folder: string
  readonly plugins: PluginFolder
  readonly client: TestClient
  readonly reports: Report[]
  readonly output: string[]
  /** Saves a file as editors do: whole, in one step. */
  save(name: string, content: string): Promise<void>
  remove(name: string): Promise<void>
  /** The text of a call, or of its failure. */
  call(tool: string, args?: Record<string, unknown>): Promise<string>
  /** Waits until this holds. */
  until(what: string, holds: () => boolean | Promise<boolean>): Promise<void>
}

export interface WorkshopOptions extends PluginFolderOptions {
  readonly way?: Way
  readonly toolbox?: (plugins: PluginFolder) => object
}

/** A module with one tool of this name. */
export const toolModule = (name: string, body = `return '${name} 1'`, more = ''): string =>
  `${more}\nexport default [{ name: '${name}', description: 'Does ${name}', inputSchema: { type: 'object' }, async handler(input, ctx) { ${body} } }]\n`

export async function workshop(
  files: { readonly [name: string]: string },
  { way = { transport: 'stdio', era: 'session' }, toolbox, ...options }: WorkshopOptions = {},
): Promise<Workshop> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'unfold-plugins-')))
  const save = async (name: string, content: string): Promise<void> => {
    const file = join(folder, name)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(`${file}.tmp`, content)
    await rename(`${file}.tmp`, file)
  }
  for (const [name, content] of Object.entries(files)) await save(name, content)
  const reports: Report[] = []
  const output: string[] = []
  const plugins = pluginFolder(folder, {
    report: (report) => reports.push(report),
    onOutput: (plugin, line) => output.push(`${plugin}: ${line}`),
    graceMs: 500,
    ...options,
  })
  const served =
    toolbox?.(plugins) ??
    defineToolbox({ name: 'workshop', version: '1.0.0', report: (report) => reports.push(report) }).use(plugins)
  await plugins.ready()
  const server = await testServer(served, way)
  const client = await server.connect()
  return {
    folder,
    plugins,
    client,
    reports,
    output,
    save,
    remove: (name) => rm(join(folder, name), { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }),
    async call(tool, args = {}) {
      const { content } = await client.call(tool, args)
      return content.map((block) => (block.type === 'text' ? block.text : block.type)).join('\n')
    },
    async until(what, holds) {
      const end = performance.now() + 10_000
      while (!(await holds())) {
        if (performance.now() > end) throw new Error(`Waited in vain until ${what}. Reports: ${JSON.stringify(reports)}`)
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    },
    async [Symbol.asyncDispose]() {
      await server.close()
      await plugins.close()
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    },
  }
}

/** Whether a process of this id runs; one that ended and was not yet asked how does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || !/^\d+ \(.*\) Z/su.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
