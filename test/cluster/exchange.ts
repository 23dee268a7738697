import { setTimeout as pause } from 'node:timers/promises'

/** A request had no reply, or one that says so: it may have had its effect. */
export class Unknown extends Error {}

/** The gateway refused a request without an effect. */
export class Refused extends Error {}

/** The session no longer exists. */
export class Lost extends Error {}

/** The gateway does not accept the token. */
export class Unauthorized extends Error {}

const requestTimeoutMs = 20_000

interface Message {
  readonly id?: number
  readonly method?: string
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

export interface CallResult {
  readonly content?: readonly { readonly text?: string }[]
  readonly isError?: boolean
  readonly requestState?: string
}

export interface ListResult {
  readonly tools: readonly { readonly name: string }[]
  readonly _meta: { readonly 'io.github.unfold-mcp/identity': string }
}

export interface Exchange {
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: object
  readonly signal: AbortSignal
  readonly timeoutMs?: number | undefined
}

/** Received messages, with the response to the request. */
export interface Received {
  readonly messages: readonly Message[]
  readonly message: Message | undefined
  readonly session: string | null
}

/** Sends one message on a connection of its own. Throws `Unknown`, `Refused`, `Lost` or `Unauthorized`. */
export async function exchange({ url, headers, body, signal, timeoutMs = requestTimeoutMs }: Exchange): Promise<Received> {
  let status: number
  let text: string
  let session: string | null
  // Not AbortSignal.timeout: Node 20 may collect it while only AbortSignal.any refers to it, and then the request never times out.
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new Error(`no reply within ${timeoutMs} ms`)), timeoutMs)
  try {
    const reply = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        connection: 'close',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
      signal: AbortSignal.any([signal, late.signal]),
    })
    status = reply.status
    session = reply.headers.get('mcp-session-id')
    text = await reply.text()
  } catch (error) {
    throw new Unknown(String(error))
  } finally {
    clearTimeout(timer)
  }
  if (status === 401) throw new Unauthorized(text)
  if (status === 404) throw new Lost(`${JSON.stringify(body).slice(0, 80)}: ${text}`)
  if (status === 502 || status === 503 || status === 429) throw new Refused(text)
  if (status >= 300 && !text.includes('"error"')) throw new Error(`HTTP ${status}: ${text}`)
  const messages = messagesIn(text)
  const message = messages.find(({ id }) => id === ('id' in body ? body.id : undefined))
  // The replica died before the response.
  if ('id' in body && message === undefined) throw new Unknown('The stream ended without a response.')
  if (message?.error !== undefined) throw failureOf(message.error.message)
  return { messages, message, session }
}

/** The text of a result. Throws `Unknown` or `Refused` for one with `isError`. */
export function textOf({ content = [], isError }: CallResult): string {
  const text = content.map((block) => block.text ?? '').join('\n')
  if (isError === true) throw failureOf(text)
  return text
}

const effect = /effect is unknown|may have had an effect|may have taken effect|took effect is unknown/u

const failureOf = (text: string): Error => (effect.test(text) ? new Unknown(text) : new Refused(text))

/** Calls back for each notification of changed tools on a stream, until it ends. Chunks may end anywhere. */
export async function readNotifications(reply: Response, notified: () => void): Promise<void> {
  let rest = ''
  for await (const chunk of reply.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    if (lines.some((line) => line.includes('notifications/tools/list_changed'))) notified()
  }
}

const maxAttempts = 200

/** Repeats a request without an effect until there is an answer. */
export async function untilAnswered<T>(attempt: () => Promise<T>): Promise<T> {
  for (let count = 1; ; count++) {
    try {
      return await attempt()
    } catch (error) {
      if (count === maxAttempts || !(error instanceof Unknown || error instanceof Refused)) throw error
      await pause(100)
    }
  }
}

function messagesIn(text: string): readonly Message[] {
  const data = text.startsWith('{') ? [text] : [...text.matchAll(/^data: (\{.*)$/gmu)].map(([, json]) => json ?? '')
  return data.map((json) => JSON.parse(json) as Message)
}
