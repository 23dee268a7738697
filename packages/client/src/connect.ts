import type { Implementation } from '@modelcontextprotocol/client'
import type { CachedTools, CacheKey, ToolCache } from './cache/cache.ts'
import { cacheKeyOf, type Target } from './config/target.ts'
import { Connection, type LogEntry } from './connection.ts'
import { wordsOf } from './errors/errors.ts'
import { bounded } from './errors/warnings.ts'
import { Asking, type Elicit } from './session/elicitation.ts'
import { type DialOptions, dial, type ProtocolChoice, type Session } from './session/handshake.ts'
import type { DocumentNotice } from './session/notifications.ts'
import { type Clock, systemClock } from './time/clock.ts'
import type { ProcessLife } from './transports/stdio.ts'
import { version } from './version.ts'

export interface ConnectOptions {
  /** Where lists of tools are kept between connections. */
  readonly cache?: ToolCache
  /** What people call the server: under this name its tools are found in the cache. */
  readonly name?: string
  /** Names whose tools they are. A target with `auth` is not cached without it. */
  readonly credential?: string
  /** What to ask for in the server's address, such as `groups=files`. For a command it only keeps caches apart. */
  readonly view?: string
  /** The identity that the tools must have, now and as long as the connection lasts. */
  readonly expectIdentity?: string
  /** How long connecting may take, and each request that is no call. */
  readonly timeoutMs?: number
  /**
   * How long a command that is started through a launcher (`npx`, `uvx`, `docker run` …) may take until its first message: it may
   * have to install the server first. `timeoutMs` counts from there on. Without it, or where it is shorter, there is `timeoutMs`.
   */
  readonly installTimeoutMs?: number
  /** Calls off connecting. */
  readonly signal?: AbortSignal
  readonly clientInfo?: Implementation
  /** Asks the person what a server wants to know. Without it, servers are told that nobody can be asked. */
  readonly elicit?: Elicit
  /**
   * Whether requests are made for others (`relay`): what the server asks and says meanwhile is for them, and what it wants to
   * know in place of a result is given back. In place of `elicit`.
   */
  readonly relays?: boolean
  /** Told what the server says of its prompts and resources. */
  readonly onDocuments?: (notice: DocumentNotice) => void
  /** Told what the server writes to its log. */
  readonly onLog?: (entry: LogEntry) => void
  /** Told each line that a command writes to standard error. */
  readonly onStderr?: (line: string) => void
  /** Called when a process begins, goes on to the next part of its life, and ends. It leads a group of its own with the same number. */
  readonly onProcess?: (pid: number, life: ProcessLife) => void
  /** Told what is wrong without anything failing. */
  readonly onWarning?: (warning: string) => void
  /** Which revision to speak; whatever both can by default. */
  readonly protocol?: ProtocolChoice
  /** A session to go on with; a new one begins when the server has forgotten it. */
  readonly session?: Session
  /** How large a message may be; 32 MiB by default. */
  readonly maxMessageBytes?: number
  readonly clock?: Clock
}

const defaultTimeoutMs = 60_000
const defaultMessageBytes = 32 * 2 ** 20
const us: Implementation = { name: 'unfold', version }

/** Connects to a server: one that is started for it, one at an address, or one in this process. */
export async function connect(target: Target, options: ConnectOptions = {}): Promise<Connection> {
  const { cache, name, credential, view, expectIdentity, elicit, clock = systemClock, timeoutMs = defaultTimeoutMs } = options
  const { maxMessageBytes = defaultMessageBytes } = options
  const onWarning = bounded(options.onWarning)
  const asking = elicit === undefined ? undefined : new Asking(elicit)
  const dialled: DialOptions = {
    protocol: options.protocol ?? 'auto',
    clientInfo: options.clientInfo ?? us,
    onLog: options.onLog,
    onDocuments: options.onDocuments,
    relays: options.relays,
    onStderr: options.onStderr,
    onProcess: options.onProcess,
    installTimeoutMs: options.installTimeoutMs,
    ...{ maxMessageBytes, timeoutMs, clock, onWarning, view, asking },
  }
  const whose = {
    ...(name !== undefined && { name }),
    ...(credential !== undefined && { credential }),
    ...(view !== undefined && { view }),
  }
  const key = cacheKeyOf(target, whose)
  // What is known of the server is read while it is being reached.
  const cached = readFrom(cache, key, onWarning)
  const link = await dial(target, { ...dialled, signal: options.signal, session: options.session })
  const connection = new Connection({
    link,
    redial: () => dial(target, dialled),
    ...{ clock, timeoutMs, maxMessageBytes, onWarning, asking, cache, key, cached, expectIdentity },
    hearsDocuments: options.onDocuments !== undefined,
  })
  if (expectIdentity === undefined) return connection
  try {
    await connection.tools()
    return connection
  } catch (error) {
    await connection.close()
    throw error
  }
}

async function readFrom(
  cache: ToolCache | undefined,
  key: CacheKey | undefined,
  onWarning: (warning: string) => void,
): Promise<CachedTools | undefined> {
  if (cache === undefined || key === undefined) return undefined
  try {
    return await cache.get(key)
  } catch (error) {
    onWarning(`The cache of tools cannot be read: ${wordsOf(error)}`)
    return undefined
  }
}
