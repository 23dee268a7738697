import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from '@unfold-mcp/client'
import { expect, test } from 'vitest'
import { main, processesWith } from '../../../cli/test/command.ts'
import { until } from '../../../client/test/processes.ts'
import { gatewayFolder } from '../gateway-file.ts'
import { commanded } from './command.ts'

const tool = (name: string, body: string): string =>
  `export default { tools: [{ name: '${name}', description: 'Does ${name}.', handler: () => { ${body} } }] }\n`

/** Plugins that try to harm their host. */
const plugins = {
  good: tool('good', `return [typeof JSON.parse('{}'), [1, 2].map((n) => n + 1).join()].join(' ')`),
  throws: `throw new Error('no key is set')\n`,
  hangs: `for (;;);\n`,
  waits: `await new Promise(() => setInterval(() => undefined, 1_000))\n`,
  leaves: `process.exit(7)\n`,
  patches: `
    JSON.parse = () => 'patched'
    JSON.stringify = () => 'patched'
    Array.prototype.map = () => ['patched']
    Object.defineProperty(Object.prototype, 'then', { value: (done) => done('patched'), configurable: true })
    process.stdout.write('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\\n')
    globalThis.fetch = process.kill = () => { throw new Error('patched') }
    ${tool('patches', `return 'mine'`)}`,
  quits: tool('quits', 'process.exit(3)'),
}

test('AT-G88: plugins that throw, hang, exit, patch globals or kill themselves during a call affect neither the gateway nor other plugins', async () => {
  await using folder = await gatewayFolder()
  const path = join(folder.path, `plugins-${process.pid}`)
  await mkdir(path)
  for (const [name, text] of Object.entries(plugins)) await writeFile(join(path, `${name}.mjs`), text)
  const box = { command: process.execPath, args: [main, 'plugins', 'serve', path] }
  {
    await using gateway = await commanded({ exposure: 'everything', mcpServers: { box } })
    await using client = await connect({ url: gateway.url })
    const names = async (): Promise<readonly string[]> => (await client.refresh()).map(({ name }) => name)
    await until(
      async () => (await names()).includes('box__good') && (await names()).includes('box__quits'),
      'the good ones',
      20_000,
    )
    const isWell = async (): Promise<void> =>
      expect(await client.call('box__good')).toMatchObject({ content: [{ text: 'object 2,3' }] })
    await isWell()
    expect((await client.call('box__quits')).isError).toBe(true)
    await isWell()
    expect(await names()).not.toContain('box__throws')
    // Hanging plugins are still loading; everything else is served meanwhile.
    let logged = ''
    await until(async () => {
      logged = (await gateway.at.unfold(['logs', 'box', '--level', 'debug', '--limit', '1000'])).stdout
      return ['throws', 'leaves', 'quits'].every((name) => logged.includes(`"${name}`))
    }, 'each is reported')
    expect(logged).toContain('no key is set')
    await isWell()
    const { upstreams, isReady } = await gateway.status()
    expect({ isReady, upstreams }).toMatchObject({ isReady: true, upstreams: [{ name: 'box', state: 'ready' }] })
  }
  await until(async () => (await processesWith(path)).length === 0, 'all of their processes have ended')
})
