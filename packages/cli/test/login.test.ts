import { readFile, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { guarded } from './authorization.ts'
import { type Home, home } from './command.ts'
import { signsIn } from './sign-in.ts'
import { person } from './terminal.ts'

const tokensIn = async (at: Home) => JSON.parse(await readFile(join(at.folder, 'unfold', 'tokens.json'), 'utf8'))

test('without a sign-in the exit code is 3, and the next step is printed', async () => {
  await using at = await home()
  await using vault = await guarded()
  const { code, stderr } = await at.unfold(['list', vault.url])
  expect(code).toBe(3)
  expect(stderr).toContain(`unfold login ${vault.url}`)
  const asJson = await at.unfold(['list', vault.url, '--json'])
  expect(JSON.parse(asJson.stderr)).toMatchObject({ error: { reason: 'login_required', exitCode: 3 } })
})

test('a sign-in registers a client, uses PKCE, and authorises later commands', async () => {
  await using at = await home()
  await using vault = await guarded()
  const { code, stdout } = await signsIn(at, [vault.url, '--json'])
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ issuer: vault.issuer, resource: vault.url, scope: 'tools' })
  expect(await at.unfold(['call', vault.url, 'open'])).toMatchObject({ code: 0, stdout: 'opened\n' })
  expect((await stat(join(at.folder, 'unfold', 'tokens.json'))).mode & 0o777).toBe(0o600)
  expect((await tokensIn(at)).grants).toMatchObject([{ issuer: vault.issuer, resource: vault.url }])
})

test('a sign-in applies to its own URL only', async () => {
  await using at = await home()
  await using vault = await guarded()
  await using other = await guarded()
  await signsIn(at, [vault.url])
  expect((await at.unfold(['list', other.url])).code).toBe(3)
  expect((await at.unfold(['list', `${vault.url}/other`])).code).not.toBe(0)
})

test('a registered client is reused', async () => {
  await using at = await home()
  await using vault = await guarded({ registers: false })
  const refused = await signsIn(at, [vault.url])
  expect(refused.code).toBe(3)
  expect(refused.stderr).toContain('--client-id')
  expect((await signsIn(at, [vault.url, '--client-id', 'known'])).code).toBe(0)
  expect((await at.unfold(['list', vault.url])).code).toBe(0)
})

test('a client can be identified by a metadata document, if the server supports it', async () => {
  await using at = await home()
  await using vault = await guarded({ readsDocuments: true })
  const id = 'https://client.example.com/unfold.json'
  expect((await signsIn(at, [vault.url, '--client-id', id])).code).toBe(0)
  expect(vault.seen).not.toContain('POST /register')
  expect((await tokensIn(at)).grants[0].client.client_id).toBe(id)
})

test('expired tokens are refreshed once, regardless of how many commands need them', async () => {
  await using at = await home()
  await using vault = await guarded()
  await signsIn(at, [vault.url])
  vault.expireAll()
  const all = await Promise.all(Array.from({ length: 4 }, () => at.unfold(['call', vault.url, 'open', '--no-cache'])))
  expect(all.map(({ code }) => code)).toEqual([0, 0, 0, 0])
  expect(vault.seen.filter((each) => each === 'grant refresh_token')).toHaveLength(1)
})

test('tokens are refreshed before they expire', async () => {
  await using at = await home()
  await using vault = await guarded({ lifeSeconds: 5 })
  await signsIn(at, [vault.url])
  const before = vault.seen.length
  expect((await at.unfold(['list', vault.url])).code).toBe(0)
  expect(vault.seen.slice(before)).toContain('grant refresh_token')
})

test('a revoked sign-in is removed, and a new one is required', async () => {
  await using at = await home()
  await using vault = await guarded()
  await signsIn(at, [vault.url])
  vault.endAll()
  expect((await at.unfold(['list', vault.url])).code).toBe(3)
  expect((await tokensIn(at)).grants).toEqual([])
})

test('declining on the authorization page fails the sign-in', async () => {
  await using at = await home()
  await using vault = await guarded({ person: 'refuses' })
  const { code, stderr } = await signsIn(at, [vault.url])
  expect(code).toBe(3)
  expect(stderr).toContain('access_denied')
})

test('a redirect with another state is rejected, and the wait times out', async () => {
  await using at = await home()
  await using vault = await guarded({ person: 'is sent elsewhere' })
  const { code, stderr } = await signsIn(at, [vault.url, '--timeout', '2'])
  expect(code).toBe(3)
  expect(stderr).toContain('No response from the browser')
  expect(vault.seen).not.toContain('grant authorization_code')
})

test('signing out deletes and revokes the tokens', async () => {
  await using at = await home()
  await using vault = await guarded()
  await signsIn(at, [vault.url])
  expect(JSON.parse((await at.unfold(['logout', vault.url, '--json'])).stdout)).toMatchObject({ forgotten: 1, revoked: 1 })
  expect((await at.unfold(['list', vault.url])).code).toBe(3)
})

test('a token file that others can read is not used', async () => {
  await using at = await home()
  await using vault = await guarded()
  await signsIn(at, [vault.url])
  const { chmod } = await import('node:fs/promises')
  await chmod(join(at.folder, 'unfold', 'tokens.json'), 0o644)
  const { code, stderr } = await at.unfold(['list', vault.url])
  expect(code).toBe(3)
  expect(stderr).toContain('chmod 600')
})

test('without a terminal no browser is awaited', async () => {
  await using at = await home()
  await using vault = await guarded()
  const { code, stderr } = await at.unfold(['login', vault.url])
  expect(code).toBe(3)
  expect(stderr).toContain('--no-browser')
})

test('the browser is opened at the authorization page', async () => {
  await using at = await home()
  await using vault = await guarded()
  const browser = join(at.folder, 'browser')
  await writeFile(browser, `#!/bin/sh\nexec ${process.execPath} -e 'fetch(process.argv[1])' "$1"\n`, { mode: 0o755 })
  await using user = person(['login', vault.url], { env: { ...at.env, BROWSER: browser }, cwd: at.folder })
  await user.sees('in your browser')
  await user.sees('Signed in to')
  expect(await user.ended).toBe(0)
})

test('servers started by a command, or without authentication, do not support sign-in', async () => {
  await using at = await home()
  expect((await at.unfold(['login', '--no-browser', '--', 'node', 'server.js'])).code).toBe(2)
  const plain = await at.unfold(['login', '--no-browser', 'http://tools.example/mcp'])
  expect(plain).toMatchObject({ code: 2, stderr: expect.stringContaining('unencrypted URL') })
  const open = createServer((request, response) => response.writeHead(request.method === 'POST' ? 200 : 404).end('{}'))
  await new Promise<void>((resolve) => open.listen(0, '127.0.0.1', resolve))
  const { port } = open.address() as AddressInfo
  const { code, stderr } = await at.unfold(['login', '--no-browser', `http://127.0.0.1:${port}/mcp`])
  open.close()
  expect(code).toBe(1)
  expect(stderr).toContain('does not require authentication')
})
