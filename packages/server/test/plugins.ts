import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { defineToolbox, type Report } from '../src/index.ts'
import { type PluginFolder, type PluginFolderOptions, pluginFolder } from '../src/plugins/index.ts'
import { type TestClient, type TestTransport, testServer } from '../src/testing/index.ts'

/** A plugin folder on disk, watched and served to a real client. */
export interface PluginFixture extends AsyncDisposable {
  readonly folder: string
  readonly plugins: PluginFolder
  readonly client: TestClient
  readonly reports: Report[]
  readonly output: string[]
  /** Saves a file with an atomic rename, as editors do. */
  save(name: string, content: string): Promise<void>
  remove(name: string): Promise<void>
  /** Calls a tool and returns the text of its result or error. */
  call(tool: string, args?: Record<string, unknown>): Promise<string>
  until(condition: string, isMet: () => boolean | Promise<boolean>): Promise<void>
}

export interface PluginFixtureOptions extends PluginFolderOptions {
  readonly testTransport?: TestTransport
  readonly toolbox?: (plugins: PluginFolder) => object
}

export const toolModule = (name: string, body = `return '${name} 1'`, more = ''): string =>
  `${more}\nexport default [{ name: '${name}', description: 'Does ${name}', inputSchema: { type: 'object' }, async handler(input, ctx) { ${body} } }]\n`

export async function pluginFixture(
  files: { readonly [name: string]: string },
  { testTransport = { transport: 'stdio', era: 'session' }, toolbox, ...options }: PluginFixtureOptions = {},
): Promise<PluginFixture> {
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
    defineToolbox({ name: 'plugins', version: '1.0.0', report: (report) => reports.push(report) }).use(plugins)
  await plugins.ready()
  const server = await testServer(served, testTransport)
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
    async until(condition, isMet) {
      const end = performance.now() + 120_000
      while (!(await isMet())) {
        if (performance.now() > end) throw new Error(`Timed out waiting until ${condition}. Reports: ${JSON.stringify(reports)}`)
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

/** Returns false for zombies as well. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || !/^\d+ \(.*\) Z/su.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
