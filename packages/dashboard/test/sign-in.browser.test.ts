import { createServer } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInChromium } from '../../browser/test/chromium.ts'
import { until } from '../../client/test/processes.ts'
import type { SignInRequest } from '../../gateway/src/upstreams/sign-in.ts'
import { type Dashboard, dashboardOf, show } from './quality-page.ts'

const minute = 60_000
const guard = createServer((_request, response) =>
  response.writeHead(401, { 'www-authenticate': 'Bearer realm="vault"' }).end('sign in first'),
)

describeInChromium('signing in to a server', () => {
  let dashboard: Dashboard
  const begun: (SignInRequest & { readonly end: (error?: Error) => void })[] = []

  beforeAll(async () => {
    await new Promise<void>((listening) => guard.listen(0, '127.0.0.1', listening))
    const address = guard.address()
    const port = typeof address === 'object' ? address?.port : 0
    dashboard = await dashboardOf(
      { mcpServers: { vault: { url: `http://127.0.0.1:${port}/mcp` } } },
      {
        startSignIn: (request) =>
          new Promise((resolve, reject) => {
            begun.push({ ...request, end: (error) => (error === undefined ? resolve() : reject(error)) })
            request.show(new URL('https://login.example/authorize?client=unfold'))
          }),
      },
    )
    await until(() => dashboard.edge.gateway.upstreams.get('vault')?.state === 'needs_login', 'vault requires a sign-in')
  }, 5 * minute)

  afterAll(async () => {
    await dashboard?.[Symbol.asyncDispose]()
    guard.closeAllConnections()
    guard.close()
  })

  test('AT-UI-10 (X10): an administrator gets a link to the authorization server, and sees why a sign-in failed', async () => {
    const page = await dashboard.signedIn()
    await show(page, '#/servers/vault', 'vault')
    await page.getByText(/^unfold login http:\/\/127\.0\.0\.1:\d+\/mcp$/u).waitFor()
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    const link = page.getByRole('link', { name: 'Continue at login.example' })
    await link.waitFor()
    expect(await link.getAttribute('href')).toBe('https://login.example/authorize?client=unfold')
    expect(begun).toHaveLength(1)
    begun[0]?.end(new Error('Sign-in to vault failed: access_denied.'))
    await page.getByText('Sign-in to vault failed: access_denied.').first().waitFor()
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await link.waitFor()
    begun[1]?.end()
    const log = async (): Promise<string> => JSON.stringify(await dashboard.edge.api('/logs?upstream=vault'))
    await until(async () => (await log()).includes('signed in to vault (admin)'), 'the sign-in is in the log')
    await page.context().close()
  })
})
