import { fileURLToPath } from 'node:url'
import type { HandlerOptions, Principal } from '@unfold-mcp/server'
import { type TestClient, testServer } from '@unfold-mcp/server/testing'

/** Returns the path of a recorded output: a test writes it, and `npm run fences` copies it into the page. */
export const shownAs = (name: string): string => fileURLToPath(new URL(`../../docs/examples/output/${name}.txt`, import.meta.url))

interface Reader {
  readonly era?: 'session' | 'stateless'
  readonly principal?: Principal
  readonly view?: string
  readonly options?: HandlerOptions
}

/** Records requests and results of an SDK client in the format of the pages: `→` is a request, `←` a notification. */
export async function transcript(
  served: object,
  { era = 'session', options = {}, ...connection }: Reader,
  steps: (client: RecordedClient) => Promise<void>,
): Promise<string> {
  await using server = await testServer(served, { transport: 'memory', era }, options)
  await using client = await server.connect(connection)
  const recorder = new RecordedClient(client)
  await steps(recorder)
  return recorder.text
}

export class RecordedClient {
  readonly #client: TestClient
  readonly #parts: string[] = []
  #recordedChanges = 0

  constructor(client: TestClient) {
    this.#client = client
  }

  get text(): string {
    return `${this.#parts.join('\n')}\n`
  }

  /** The SDK client, for requests other than tools. */
  get sdk(): TestClient['client'] {
    return this.#client.client
  }

  async list(): Promise<readonly string[]> {
    const names = await this.#client.toolNames()
    this.note('tools/list', names.join(', ') || '(none)')
    return names
  }

  async call(name: string, args?: Record<string, unknown>): Promise<void> {
    const asked = args === undefined ? name : `${name} ${JSON.stringify(args)}`
    this.note(`tools/call ${asked}`, await this.#answer(name, args))
    await this.hear()
  }

  /** Runs a script; its lines are shown as they are. */
  async run(code: string): Promise<void> {
    this.note('tools/call run_code', code)
    const answer = await this.#answer('run_code', { code })
    this.#parts.push(...answer.split('\n').map((line, index) => `${index === 0 ? '←' : ' '} ${line}`))
  }

  /** Records received notifications. */
  async hear(): Promise<void> {
    await this.#client.settle()
    for (; this.#recordedChanges < this.#client.listChanges; this.#recordedChanges++)
      this.#parts.push('← notifications/tools/list_changed')
  }

  /** Discards the record so far. */
  forget(): void {
    this.#parts.length = 0
  }

  note(asked: string, answer: string): void {
    const indented = answer.split('\n').map((line) => (line === '' ? '' : `  ${line}`))
    this.#parts.push(`→ ${asked}`, ...indented)
  }

  async #answer(name: string, args?: Record<string, unknown>): Promise<string> {
    try {
      const { content, isError, _meta } = await this.#client.call(name, args)
      const texts = content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`))
      const reason = _meta?.['io.github.unfold-mcp/reason']
      const failed = isError === true ? [typeof reason === 'string' ? `isError, ${reason}:` : 'isError:'] : []
      const activation = _meta?.['io.github.unfold-mcp/activation']
      const meta = activation === undefined ? [] : [`_meta io.github.unfold-mcp/activation: ${JSON.stringify(activation)}`]
      return [...failed, ...texts, ...meta].join('\n') || '(nothing)'
    } catch (error) {
      const { code, message, data } = error as { code: number; message: string; data?: { reason?: string } }
      return `error ${code}${data?.reason === undefined ? '' : `, ${data.reason}`}: ${message}`
    }
  }
}
