import { connect } from '@unfold-mcp/client'
import { expect, test } from 'vitest'
import { until } from '../../client/test/processes.ts'
import { runningGateways } from '../../gateway/src/run-file.ts'
import { guarded } from './authorization.ts'
import { type Home, home } from './command.ts'
import { startGatewayProcess } from './gateway-process.ts'
import { signsIn } from './sign-in.ts'

const stateOf = async (at: Home, name: string): Promise<string> => {
  const { upstreams } = JSON.parse((await at.unfold(['status', '--json'])).stdout)
  return upstreams.find((each: { name: string }) => each.name === name).state
}

test('a server that requires sign-in is available from sign-in to sign-out, with refreshed tokens', async () => {
  await using at = await home()
  await using vault = await guarded()
  await using other = await guarded()
  const config = { mcpServers: { vault: { url: vault.url }, other: { url: other.url } }, exposure: 'everything' }
  await using gateway = await startGatewayProcess(at, config)
  expect(gateway.stderr()).toContain(`unfold login ${vault.url}`)
  for (const asked of [['status'], ['status', 'vault']])
    expect((await at.unfold(asked)).stdout.replace(/\s+/gu, ' ')).toContain(`unfold login ${vault.url}`)
  const { code, stderr } = await signsIn(at, [vault.url])
  expect({ code, stderr }).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('Reconnecting: vault, other'),
  })
  await until(async () => (await stateOf(at, 'vault')) === 'ready', 'the server is available after sign-in')
  expect(await stateOf(at, 'other')).not.toBe('ready')
  await using client = await connect({ url: gateway.url })
  const text = async (): Promise<unknown> => (await client.call('vault__open')).content
  expect(await text()).toEqual([{ type: 'text', text: 'opened' }])
  vault.expireAll()
  expect(await text()).toEqual([{ type: 'text', text: 'opened' }])
  expect(vault.seen).toContain('grant refresh_token')
  // The token is still valid, but no longer stored.
  expect((await at.unfold(['logout', vault.url])).stderr).toContain('Reconnecting without it: vault')
  await until(async () => (await stateOf(at, 'vault')) === 'needs_login', 'the server is unavailable after sign-out')
  // After a few seconds, its tools are no longer listed.
  expect(JSON.stringify(await client.call('vault__open').then(({ content }) => content, String))).toMatch(
    /login|sign in|not found/u,
  )
  // The tokens of one URL were never sent to another.
  expect(other.seen.filter((each) => each.startsWith('grant'))).toEqual([])
})

test('an administrator of the dashboard signs in to a server, which is then available', async () => {
  await using at = await home()
  await using vault = await guarded()
  await using _gateway = await startGatewayProcess(at, { mcpServers: { vault: { url: vault.url } } })
  const [run] = await runningGateways(at.env.UNFOLD_HOME ?? '')
  const begin = (): Promise<Response> =>
    fetch(new URL('/api/upstreams/vault/sign-in', run?.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${run?.admin}` },
    })
  const { url } = (await (await begin()).json()) as { readonly url: string }
  // The browser follows the redirects of the authorization server.
  expect(await (await fetch(url)).text()).toContain('Signed in')
  await until(async () => (await stateOf(at, 'vault')) === 'ready', 'the server is available after sign-in')
  expect((await begin()).status).toBe(409)
})

test('a header in the configuration takes precedence over a sign-in', async () => {
  await using at = await home()
  await using vault = await guarded()
  await signsIn(at, [vault.url])
  const headers = { authorization: 'Bearer of-another-user' }
  await using gateway = await startGatewayProcess(at, { mcpServers: { vault: { url: vault.url, headers } } })
  expect(gateway.stderr()).toContain('requires authentication')
  expect(await stateOf(at, 'vault')).toBe('needs_login')
})
