import { expect, test } from 'vitest'
import { launcherOf } from './launcher.ts'

const of = (line: string) => {
  const [command = '', ...args] = line.split(' ')
  return launcherOf({ command, args })
}

test.each([
  ['npx -y @scope/server@1.2.3 --flag', 'npx', ['@scope/server@1.2.3']],
  ['/usr/local/bin/npx --yes server', 'npx', ['server']],
  ['C:\\Program_Files\\nodejs\\npx.CMD -y server', 'npx', ['server']],
  ['cmd /c npx -y server', 'npx', ['server']],
  ['cmd.exe /d /s /c npx.cmd server', 'npx', ['server']],
  ['env DEBUG=1 npx server', 'npx', ['server']],
  ['npx -p a --package=b --package c@2 run-it', 'npx', ['a', 'b', 'c@2']],
  ['npx --registry https://registry.example -y server', 'npx', ['server']],
  ['npm exec --yes -- server --flag', 'npx', ['server']],
  ['npm --silent x server', 'npx', ['server']],
  ['uvx --from git+https://host.example/x x', 'uvx', []],
  ['uv run server', 'uv', []],
  ['uv tool run server', 'uv', []],
  ['bunx server', 'bunx', []],
  ['bun x server', 'bun', []],
  ['pnpm dlx server', 'pnpm', []],
  ['pnpx server', 'pnpx', []],
  ['yarn dlx server', 'yarn', []],
  ['pipx run server', 'pipx', []],
  ['docker run -i --rm image', 'docker', []],
  ['podman container run image', 'podman', []],
])('%s may install before it runs', (line, program, packages) => {
  expect(of(line)).toEqual({ program, packages })
})

test.each([
  'node npx',
  'npm run start',
  'npm start',
  'bun server.ts',
  'uv pip install x',
  'docker exec -i box server',
  'cmd',
  'env',
  './npx-server',
  '',
])('"%s" does not', (line) => {
  expect(of(line)).toBeUndefined()
})
