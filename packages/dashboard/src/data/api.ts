/** A request that failed, with the gateway's own message. */
export class ApiError extends Error {
  /** 0 if the gateway did not answer. */
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.name = 'ApiError'
    this.status = status
  }
}

/** Other sites cannot set this header without a preflight request, which the gateway refuses. */
const csrf = { 'x-unfold-csrf': '1' }

const address = (path: string): URL => new URL(`../api${path}`, new URL('.', location.href))

export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  let response: Response
  try {
    response = await fetch(address(path), { ...init, credentials: 'same-origin', headers: { ...csrf, ...headersOf(init) } })
  } catch (error) {
    if (init.signal?.aborted === true) throw error
    throw new ApiError(0, 'The gateway does not answer.')
  }
  if (!response.ok) throw new ApiError(response.status, await messageOf(response))
  return response
}

const headersOf = ({ headers }: RequestInit): { readonly [name: string]: string } => Object.fromEntries(new Headers(headers))

async function messageOf(response: Response): Promise<string> {
  const text = await response.text().catch(() => '')
  try {
    const { error, message } = JSON.parse(text) as { readonly error?: unknown; readonly message?: unknown }
    if (typeof error === 'string') return error
    if (typeof message === 'string') return message
  } catch {
    // Not JSON.
  }
  return text === '' ? `HTTP ${response.status}` : text
}

/** Reads JSON. The gateway is trusted for the shape, never for the text inside. */
export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await request(path, signal === undefined ? {} : { signal })
  return (await response.json()) as T
}

export async function send<T>(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<T> {
  const init: RequestInit = { method, headers: { 'content-type': 'application/json' } }
  const response = await request(path, body === undefined ? init : { ...init, body: JSON.stringify(body) })
  const text = await response.text()
  return (text === '' ? undefined : JSON.parse(text)) as T
}
