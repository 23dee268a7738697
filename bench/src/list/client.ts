import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { initializeOf, type Message } from './wire.ts'

/** A keep-alive connection that sends bytes and counts the response, with negligible cost compared with the servers. */
export class RawClient implements Disposable {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #port: number

  constructor(port: number) {
    this.#port = port
  }

  /** Sends a request and waits for the complete response; resolves with its length in bytes. */
  send(message: Message): Promise<number> {
    let size = 0
    return this.#exchange(message, (chunk) => {
      size += chunk.length
    }).then(() => size)
  }

  /** Sends a request and returns the response text. */
  async read(message: Message): Promise<{ headers: IncomingHttpHeaders; text: string }> {
    const chunks: Buffer[] = []
    const headers = await this.#exchange(message, (chunk) => void chunks.push(chunk))
    return { headers, text: Buffer.concat(chunks).toString() }
  }

  /** Initializes a session; resolves with its id. */
  async initialize(path: string): Promise<string> {
    const { first, second } = initializeOf(path)
    const { headers, text } = await this.read(first)
    const session = headers['mcp-session-id']
    if (typeof session !== 'string') throw new Error(`No session was created: ${text.slice(0, 300)}`)
    await this.send(second(session))
    return session
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }

  #exchange({ path, headers, body }: Message, onChunk: (chunk: Buffer) => void): Promise<IncomingHttpHeaders> {
    return new Promise((resolve, reject) => {
      const sent = request(
        { agent: this.#agent, host: '127.0.0.1', port: this.#port, method: 'POST', path, headers },
        (response) => {
          response.on('data', onChunk)
          response.on('end', () => {
            const { statusCode = 0 } = response
            if (statusCode < 300) resolve(response.headers)
            else reject(new Error(`The server replied with status ${statusCode}.`))
          })
          response.on('error', reject)
        },
      )
      sent.on('error', reject)
      sent.end(body)
    })
  }
}
