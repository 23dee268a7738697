import { type LookupAddress, lookup } from 'node:dns'
import { type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ToolError } from '@unfold-mcp/server'
import { isPrivate } from './addresses.ts'

const maxRedirects = 5

export interface WebLimits {
  readonly allowPrivate: boolean
  readonly timeoutMs: number
}

export interface Ask extends WebLimits {
  readonly method: 'GET' | 'PUT' | 'POST'
  readonly headers?: { readonly [name: string]: string }
  readonly body?: Readable
  readonly signal: AbortSignal
}

export interface Answer {
  /** Final URL after redirects. */
  readonly url: string
  readonly status: number
  readonly type: string
  readonly body: AsyncIterable<Buffer>
  /** Discards the body. */
  readonly discard: () => void
}

/** Sends a request. A GET follows redirects; every address is checked when the connection is made. */
export async function ask(url: string, options: Ask): Promise<Answer> {
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(options.timeoutMs)])
  let at = checkedUrl(url, options.allowPrivate)
  for (let hops = 0; hops <= maxRedirects; hops++) {
    const response = await send(at, { ...options, signal })
    const location = response.headers.location
    const isRedirect =
      options.method === 'GET' && location !== undefined && [301, 302, 303, 307, 308].includes(response.statusCode ?? 0)
    if (!isRedirect) {
      const type = response.headers['content-type'] ?? 'application/octet-stream'
      const body = chunks(response, at, signal)
      return { url: at.href, status: response.statusCode ?? 0, type, body, discard: () => void response.destroy() }
    }
    response.destroy()
    at = checkedUrl(new URL(location, at).href, options.allowPrivate)
  }
  throw new ToolError(`${url} redirects more than ${maxRedirects} times. Use the final URL.`)
}

/** Reads a body, up to `most` bytes. */
export async function bytesOf(body: AsyncIterable<Buffer>, most: number): Promise<{ bytes: Buffer; truncated: boolean }> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of body) {
    parts.push(part)
    size += part.length
    if (size > most) break
  }
  return { bytes: Buffer.concat(parts).subarray(0, most), truncated: size > most }
}

function checkedUrl(text: string, allowPrivate: boolean): URL {
  if (!URL.canParse(text)) throw new ToolError(`"${text}" is not a valid URL. Use one such as https://example.com/page.`)
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new ToolError(`${url.protocol} URLs are not supported. Use http:// or https://.`)
  }
  // IP addresses are not resolved, so the check during the lookup does not apply.
  const host = url.hostname.replace(/^\[|\]$/gu, '')
  if (!allowPrivate && isIP(host) !== 0 && isPrivate(host)) throw refused(host, host)
  return url
}

function send(url: URL, { method, headers, body, signal, allowPrivate }: Ask): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options: RequestOptions = { method, headers: { 'user-agent': 'automation-hub/1.0', ...headers }, signal }
    if (!allowPrivate) options.lookup = publicOnly
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, options, resolve)
    request.on('error', (error) => reject(explained(url, codeOf(error), error)))
    if (body === undefined) request.end()
    else pipeline(body, request).catch(reject)
  })
}

// The check must happen here and not before the request: a name may resolve differently the second time.
const publicOnly: LookupFunction = (host, options, callback) => {
  lookup(host, options, (error, found: string | LookupAddress[], family) => {
    const addresses = typeof found === 'string' ? [{ address: found }] : (found ?? [])
    const hidden = error === null ? addresses.find(({ address }) => isPrivate(address)) : undefined
    if (hidden === undefined) callback(error, found, family)
    else callback(refused(host, hidden.address), '', 0)
  })
}

function refused(host: string, address: string): Error {
  return new ToolError(
    `${host} is at ${address}, in a private network. Ask for a public address; whoever runs the server may set AUTOMATION_HUB_ALLOW_PRIVATE=1.`,
  )
}

async function* chunks(response: IncomingMessage, url: URL, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    yield* response as AsyncIterable<Buffer>
  } catch (error) {
    // An incomplete response looks like a broken connection, even after a local abort.
    if (signal.aborted) throw explained(url, 'ABORT_ERR', error)
    throw explained(url, codeOf(error), error)
  }
}

function explained(url: URL, code: string, error: unknown): unknown {
  const explanation = explanations[code]
  return explanation === undefined ? error : new ToolError(`${url.host} ${explanation}`, { cause: error })
}

const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException).code)

const explanations: { readonly [code: string]: string } = {
  ABORT_ERR: 'took too long to answer. Ask for less, or try again later.',
  ECONNREFUSED: 'refuses connections. Check the address and the port.',
  ECONNRESET: 'broke the connection. Try again later.',
  ENOTFOUND: 'does not exist. Check the spelling of the address.',
  EAI_AGAIN: 'could not be looked up. Try again later.',
}
