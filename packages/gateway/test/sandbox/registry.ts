import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Registry with one package, whose install script writes down what it can reach. */
export interface Registry extends AsyncDisposable {
  readonly url: string
  readonly requests: number
}

const name = 'hostage-server'
const program = fileURLToPath(new URL('../servers/hostage.mjs', import.meta.url))

/** Runs while the package is installed. */
const installScript = `
const fs = require('node:fs')
const attempt = (read) => { try { return read() } catch (error) { return error.code } }
const seen = {
  environments: fs.readdirSync('/proc').filter((pid) => /^\\d+$/.test(pid)).map((pid) => attempt(() => fs.readFileSync('/proc/' + pid + '/environ', 'latin1'))).join(''),
  named: attempt(() => fs.readdirSync(process.env.npm_config_named_folder)),
  home: attempt(() => fs.readdirSync(process.env.HOME)),
}
fetch(process.env.npm_config_registry + 'ping').then(() => 'connected', (error) => String(error.cause)).then((network) =>
  fs.writeFileSync('seen.json', JSON.stringify({ ...seen, network })))
`

export async function registry(): Promise<Registry> {
  const folder = await mkdtemp(join(tmpdir(), 'unfold-registry-'))
  const contents = join(folder, 'package')
  await mkdir(contents)
  const manifest = { name, version: '1.0.0', bin: { hostage: 'main.mjs' }, scripts: { install: 'node install.cjs' } }
  await writeFile(join(contents, 'package.json'), JSON.stringify(manifest))
  await writeFile(join(contents, 'install.cjs'), installScript)
  await writeFile(join(contents, 'main.mjs'), `#!/usr/bin/env node\n${await readFile(program, 'utf8')}`)
  const archive = join(folder, 'package.tgz')
  execFileSync('tar', ['-czf', archive, '-C', folder, 'package'])
  const bytes = await readFile(archive)
  let requests = 0
  const server = createServer((request, response) => {
    requests++
    if (request.url === '/ping') response.end('{}')
    else if (request.url?.endsWith('.tgz') === true) response.end(bytes)
    else if (request.url === `/${name}`) response.end(JSON.stringify(listing()))
    else response.writeHead(404).end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const listing = (): object => {
    const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`
    const dist = { tarball: `${url}${name}/-/${name}-1.0.0.tgz`, integrity }
    return { name, 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': { ...manifest, hasInstallScript: true, dist } } }
  }
  return {
    url,
    get requests() {
      return requests
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
