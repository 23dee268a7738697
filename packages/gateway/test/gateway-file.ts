import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CloseOptions } from '../src/gateway-service.ts'
import { type RunningGateway, type StartOptions, startGateway } from '../src/start.ts'

/** A folder for a gateway, deleted when the test ends. */
export async function gatewayFolder() {
  const path = await mkdtemp(join(tmpdir(), 'unfold-gateway-'))
  return {
    path,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }),
  }
}

export interface FromFileOptions extends Partial<StartOptions> {
  /** A folder that is kept, such as one that another gateway used. */
  readonly folder?: string
}

/** A complete gateway, run from a file on a free port. */
export interface FromFile {
  readonly running: RunningGateway
  /** The folder of its file and of the user's data. */
  readonly home: string
  readonly file: string
  /** Its log messages, unless a log was passed. */
  readonly messages: readonly string[]
  /** Writes another configuration, or any text, to its file. */
  readonly write: (next: object | string) => Promise<void>
  readonly close: (options?: CloseOptions) => Promise<void>
}

/** Starts a gateway from a file with this configuration. Its folder is deleted when it is closed. */
export async function fromFile(config: object, { folder, ...options }: FromFileOptions = {}): Promise<FromFile> {
  const own = folder === undefined ? await gatewayFolder() : undefined
  const home = folder ?? own?.path ?? ''
  const file = join(home, 'unfold.json')
  const write = (next: object | string): Promise<void> => writeFile(file, typeof next === 'string' ? next : JSON.stringify(next))
  const messages: string[] = []
  const record = (_data: object, message: string): void => void messages.push(message)
  const log = { debug: () => undefined, info: record, warn: record, error: record }
  await write(config)
  try {
    // The test has consent to what it wrote.
    const decideAtStart: StartOptions['decideAtStart'] = async (edits) => ({ approve: edits.map(({ digest }) => digest) })
    const running = await startGateway({ file, environment: {}, home, log, port: 0, decideAtStart, ...options })
    const close: FromFile['close'] = async (how) => {
      await running.close(how)
      await own?.[Symbol.asyncDispose]()
    }
    return { running, home, file, messages, write, close }
  } catch (error) {
    await own?.[Symbol.asyncDispose]()
    throw error
  }
}
