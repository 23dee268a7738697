import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type CallbackResult =
  | { readonly code: string; readonly iss: string | undefined }
  | { readonly error: string; readonly description: string | undefined }

/** Local HTTP server for the OAuth redirect. */
export interface Callback extends AsyncDisposable {
  readonly redirect: string
  /** Waits for the redirect; rejects requests with another `state`. */
  waitForResult(state: string, signal: AbortSignal): Promise<CallbackResult>
}

const path = '/callback'

/** Listens on 127.0.0.1, preferably on the port of a previous registration. */
export async function callbackServer(registered?: string): Promise<Callback> {
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 })
  const listen = (port: number): Promise<boolean> =>
    new Promise((resolve) => {
      const failed = (): void => resolve(false)
      server.once('error', failed)
      server.listen(port, '127.0.0.1', () => {
        server.off('error', failed)
        resolve(true)
      })
    })
  const port = registered === undefined ? 0 : Number(new URL(registered).port)
  if (!(await listen(port)) && !(await listen(0))) throw new Error('Cannot listen on 127.0.0.1 for the OAuth redirect.')
  const redirect = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
  return {
    redirect,
    waitForResult: (state, signal) =>
      new Promise((resolve, reject) => {
        const abort = (): void => reject(signal.reason)
        if (signal.aborted) return abort()
        signal.addEventListener('abort', abort, { once: true })
        server.on('request', (request: IncomingMessage, response: ServerResponse) => {
          const result = parseResult(request, redirect, state)
          respond(response, result)
          if (result === undefined) return
          signal.removeEventListener('abort', abort)
          resolve(result)
        })
      }),
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      // Let the final page be delivered.
      server.closeIdleConnections()
      const late = setTimeout(() => server.closeAllConnections(), 500)
      await closed
      clearTimeout(late)
    },
  }
}

/** Undefined for any other request. */
function parseResult(
  { method, url = '', headers }: IncomingMessage,
  redirect: string,
  state: string,
): CallbackResult | undefined {
  const at = new URL(redirect)
  // Protects against DNS rebinding.
  if (method !== 'GET' || headers.host !== at.host || !URL.canParse(url, redirect)) return undefined
  const { pathname, searchParams: query } = new URL(url, redirect)
  if (pathname !== path || query.get('state') !== state) return undefined
  const error = query.get('error')
  if (error !== null) return { error, description: query.get('error_description') ?? undefined }
  const code = query.get('code')
  return code === null ? undefined : { code, iss: query.get('iss') ?? undefined }
}

function respond(response: ServerResponse, result: CallbackResult | undefined): void {
  const [status, text] =
    result === undefined
      ? [400, 'Unexpected request.']
      : 'code' in result
        ? [200, 'Signed in. You can close this page.']
        : [200, 'Sign-in failed. See the terminal for details.']
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', connection: 'close' }
  response.writeHead(status, headers).end(text)
}
