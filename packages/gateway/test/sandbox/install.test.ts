import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from '@unfold-mcp/client'
import { describe, expect, test, vi } from 'vitest'
import { until } from '../../../client/test/processes.ts'
import { type Commanded, commanded } from '../faults/command.ts'
import { canSandbox } from './available.ts'
import { registry } from './registry.ts'

// npm takes its time, on a machine that may be busy.
vi.setConfig({ testTimeout: 300_000 })

const secret = 'kept-from-install-scripts'

/** Waits until a server is in a state, and returns its last error. */
async function reaches(gateway: Commanded, name: string, state: string): Promise<string> {
  let lastError = ''
  await until(
    async () => {
      const upstream = (await gateway.status()).upstreams.find((each) => each.name === name)
      lastError = upstream?.lastError ?? ''
      return upstream?.state === state
    },
    `${name} is ${state}`,
    150_000,
  )
  return lastError
}

async function attempt(gateway: Commanded, name: string, code: string): Promise<string> {
  await using client = await connect({ url: gateway.url })
  const { content } = await client.call(`${name}__run`, { code })
  const [first] = content
  return first?.type === 'text' ? first.text : ''
}

describe.skipIf(!canSandbox)('a server in a sandbox that a launcher installs', () => {
  test('AT-S10-6: npx installs with the network and without keys and folders, and the server runs without the network', async () => {
    await using packages = await registry()
    const gateway = await commanded(
      {
        exposure: 'everything',
        results: { secrets: 'off' },
        mcpServers: {
          up: {
            command: 'npx',
            args: ['-y', 'hostage-server@1.0.0'],
            env: { SECRET: secret, npm_config_registry: packages.url, npm_config_named_folder: `\${HOME}/named` },
            sandbox: { preset: 'strict', write: ['named'] },
          },
        },
      },
      { prepare: (folder) => mkdir(join(folder, 'named')).then(() => undefined) },
    )
    await using _ = gateway
    await reaches(gateway, 'up', 'ready')
    const before = packages.requests
    expect(before).toBeGreaterThan(1)
    // The program is in the folder that it was installed into.
    const here = `const path = require('fs').realpathSync(process.argv[1]); const folder = path.slice(0, path.lastIndexOf('/'));`
    const seen = await attempt(
      gateway,
      'up',
      `${here} return JSON.parse(require('fs').readFileSync(folder + '/seen.json', 'utf8'))`,
    )
    expect(seen).toContain('"network":"connected"')
    expect(seen).toContain('"named":"ENOENT"')
    expect(seen).not.toContain(secret)
    expect(await attempt(gateway, 'up', 'return process.env.SECRET')).toBe(`done: "${secret}"`)
    const dial = `return new Promise((resolve, reject) => require('net').connect(${new URL(packages.url).port}, '127.0.0.1').once('connect', () => resolve('connected')).once('error', reject))`
    expect(await attempt(gateway, 'up', dial)).toBe('refused: ECONNREFUSED')
    expect(await attempt(gateway, 'up', `${here} require('fs').writeFileSync(folder + '/main.mjs', '')`)).toBe('refused: EROFS')
    await gateway.at.unfold(['restart', 'up'])
    await until(async () => ((await gateway.status()).upstreams[0]?.forMs ?? 0) < 60_000, 'it was restarted')
    await reaches(gateway, 'up', 'ready')
    expect(packages.requests).toBe(before)
  })

  test('AT-S10-7: uvx installs with uv and the server is run from there', async () => {
    const prepare = async (folder: string): Promise<void> => {
      const programs = join(folder, 'programs')
      await mkdir(programs)
      // As uv does: a program in $UV_TOOL_BIN_DIR.
      const install = `#!/bin/sh
[ "$*" = "tool install --force --python 3.12 -- hostage-tool" ] || { echo "error: unexpected: $*" >&2; exit 2; }
mkdir -p "$UV_TOOL_BIN_DIR"
printf '#!/bin/sh\\nexec ${process.execPath} ${join(folder, 'server', 'hostage.mjs')}\\n' > "$UV_TOOL_BIN_DIR/hostage"
chmod +x "$UV_TOOL_BIN_DIR/hostage"
`
      for (const name of ['uv', 'uvx']) {
        await writeFile(join(programs, name), install)
        await chmod(join(programs, name), 0o755)
      }
      await mkdir(join(folder, 'server'))
      const source = await readFile(new URL('../servers/hostage.mjs', import.meta.url), 'utf8')
      await writeFile(join(folder, 'server', 'hostage.mjs'), source)
    }
    await using gateway = await commanded(
      {
        exposure: 'everything',
        mcpServers: {
          up: {
            command: './programs/uvx',
            args: ['--python', '3.12', '--from', 'hostage-tool', 'hostage'],
            sandbox: { preset: 'strict', read: ['server'] },
          },
        },
      },
      { prepare },
    )
    await reaches(gateway, 'up', 'ready')
    expect(await attempt(gateway, 'up', 'return 1 + 1')).toBe('done: 2')
  })

  test('AT-S10-8: a launcher that needs the network while it runs, or leaves the sandbox, is refused with the choice', async () => {
    await using gateway = await commanded({
      mcpServers: {
        bun: { command: 'bunx', args: ['some-server'], sandbox: 'strict' },
        folder: { command: 'npx', args: ['./here'], sandbox: 'strict' },
        docker: { command: 'docker', args: ['run', 'image'], sandbox: 'files' },
      },
    })
    for (const name of ['bun', 'folder'])
      expect(await reaches(gateway, name, 'failed')).toContain('Set "network": true in its sandbox')
    expect(await reaches(gateway, 'docker', 'failed')).toContain('docker starts the server outside of the sandbox')
  })

  test('AT-S10-9: a failed installation is reported with its reason, and nothing is run', async () => {
    await using packages = await registry()
    await using gateway = await commanded({
      mcpServers: {
        up: {
          command: 'npx',
          args: ['-y', 'no-such-server'],
          env: { npm_config_registry: packages.url },
          sandbox: 'strict',
        },
      },
    })
    expect(await reaches(gateway, 'up', 'failed')).toContain('404 Not Found')
  })
})
