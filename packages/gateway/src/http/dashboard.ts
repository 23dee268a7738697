import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, extname, join } from 'node:path'
import type { RequestHead } from '@unfold-mcp/server'
import { sessionCookie } from '../admin/pages/cookie.ts'
import type { PageSessions } from '../admin/pages/sessions.ts'

const contentTypes: { readonly [extension: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const securityHeaders = {
  // Images of tool results are shown from data and blob URLs.
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

const assetName = /^[\w-]+\.(?:js|css|svg)$/u

/** Serves the page of the dashboard and its files, and signs a browser in with a one-time code. */
export async function serveDashboard(head: RequestHead, url: URL, pages: PageSessions): Promise<Response> {
  if (head.method !== 'GET' && head.method !== 'HEAD') return page(405, 'Method not allowed. Use GET.', { allow: 'GET, HEAD' })
  if (url.pathname === '/ui') return redirect(308, `/ui/${url.search}`)
  const code = url.searchParams.get('code')
  if (url.pathname === '/ui/' && code !== null) {
    // Programs that preview links use HEAD, which must not use up the code.
    const session = head.method === 'GET' ? pages.redeem(code) : undefined
    if (session === undefined) return redirect(303, '/ui/#/expired')
    return redirect(303, '/ui/', { 'set-cookie': sessionCookie(head, session) })
  }
  const asset = url.pathname.startsWith('/ui/assets/') ? url.pathname.slice('/ui/assets/'.length) : undefined
  if (asset === undefined && url.pathname !== '/ui/') return page(404, 'Not found. The dashboard is at /ui/.')
  if (asset !== undefined && !assetName.test(asset)) return page(404, 'Not found.')
  const content = await read(asset === undefined ? 'index.html' : join('assets', asset))
  if (content === undefined)
    return asset === undefined
      ? page(503, 'The dashboard is not built. In a checkout, run "npm run build"; otherwise install @unfold-mcp/dashboard.')
      : page(404, 'Not found.')
  const headers = {
    ...securityHeaders,
    'content-type': contentTypes[asset === undefined ? '.html' : extname(asset)] ?? 'application/octet-stream',
    // The names of assets contain the hash of their content.
    'cache-control': asset === undefined ? 'no-store' : 'public, max-age=31536000, immutable',
  }
  return new Response(head.method === 'HEAD' ? null : content, { headers })
}

async function read(file: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const base = folder()
  return base === undefined ? undefined : readFile(join(base, file)).catch(() => undefined)
}

function folder(): string | undefined {
  const { resolve } = createRequire(import.meta.url)
  try {
    return join(dirname(resolve('@unfold-mcp/dashboard/package.json')), 'dist')
  } catch {
    return undefined
  }
}

const redirect = (status: number, location: string, headers: { readonly [name: string]: string } = {}): Response =>
  new Response(null, { status, headers: { ...securityHeaders, 'cache-control': 'no-store', location, ...headers } })

const page = (status: number, text: string, headers: { readonly [name: string]: string } = {}): Response =>
  new Response(`${text}\n`, {
    status,
    headers: { ...securityHeaders, 'cache-control': 'no-store', 'content-type': 'text/plain; charset=utf-8', ...headers },
  })
