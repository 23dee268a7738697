import type { Implementation } from '@modelcontextprotocol/client'
import type { CachedTools, CacheKey, ToolCache } from './cache/cache.ts'
import { cacheKeyOf, type Target } from './config/target.ts'
import { Connection, type LogEntry } from './connection.ts'
import { errorMessage } from './errors/errors.ts'
import { limitWarnings } from './errors/warnings.ts'
import type { DocumentChange } from './session/document-change.ts'
import { type ElicitationHandler, ElicitationQueue } from './session/elicitation.ts'
import { type HandshakeOptions, openSession, type ProtocolChoice, type ResumableSession } from './session/handshake.ts'
import { type Clock, systemClock } from './time/clock.ts'
import type { ProcessState, Supervisor } from './transports/server-process.ts'
import { version } from './version.ts'

export interface ConnectOptions {
  /** Store for tool lists between connections. */
  readonly cache?: ToolCache
  /** Name of the server in the cache. */
  readonly name?: string
  /** Identifies whose tools these are. A target with `auth` is not cached without it. */
  readonly credential?: string
  /** Query of the server's URL that selects a view, such as `groups=files`. For a command it only separates cache entries. */
  readonly view?: string
  /** Identity that the tools must have, now and for the lifetime of the connection. */
  readonly expectIdentity?: string
  /** Timeout for connecting, and for each request except calls. Default: 60 000. */
  readonly timeoutMs?: number
  /**
   * Timeout until the first message of a command run through a launcher (`npx`, `uvx`, `docker run` …), which may have to install
   * the server first. `timeoutMs` applies from then on. Default, and minimum: `timeoutMs`.
   */
  readonly installTimeoutMs?: number
  /** Cancels connecting. */
  readonly signal?: AbortSignal
  readonly clientInfo?: Implementation
  /** Handles elicitation requests. Without it, the client does not declare the capability. */
  readonly elicit?: ElicitationHandler
  /**
   * Forward requests for other clients (`relay`): elicitation and sampling requests of the server go to the client whose call is in
   * progress, and an `input_required` result is returned to the caller. Replaces `elicit`.
   */
  readonly relays?: boolean
  /** Receives changes of prompts and resources. */
  readonly onDocumentChange?: (notice: DocumentChange) => void
  /** Receives log messages of the server. */
  readonly onLog?: (entry: LogEntry) => void
  /** Receives each line that a command writes to stderr. */
  readonly onStderr?: (line: string) => void
  /**
   * Receives the state changes of a server process. The process leads its own process group, with the same number. `id` is part of
   * the variable `UNFOLD_PROCESS_IDS` of the process and its descendants; empty if these may outlive it.
   */
  readonly onProcess?: (pid: number, state: ProcessState, id: string) => void
  /** Runs a command in place of this process, and ends it when its time is up. */
  readonly supervisor?: Supervisor
  /** Receives problems that do not make anything fail. */
  readonly onWarning?: (warning: string) => void
  /** Protocol revision to speak. Default: `auto`. */
  readonly protocol?: ProtocolChoice
  /** Session to resume; a new one starts if the server has lost it. */
  readonly session?: ResumableSession
  /** Maximum size of a message. Default: 32 MiB. */
  readonly maxMessageBytes?: number
  readonly clock?: Clock
}

const defaultTimeoutMs = 60_000
const defaultMaxMessageBytes = 32 * 2 ** 20
const defaultClientInfo: Implementation = { name: 'unfold', version }

/** Connects to a server: a command to start, a URL, or a server in this process. */
export async function connect(target: Target, options: ConnectOptions = {}): Promise<Connection> {
  if (!['command', 'url', 'server'].some((key) => key in target))
    throw new TypeError('A target needs one of: command, url, server.')
  const { cache, name, credential, view, expectIdentity, elicit, clock = systemClock, timeoutMs = defaultTimeoutMs } = options
  const { maxMessageBytes = defaultMaxMessageBytes } = options
  const onWarning = limitWarnings(options.onWarning)
  const elicitations = elicit === undefined ? undefined : new ElicitationQueue(elicit)
  const handshake: HandshakeOptions = {
    protocol: options.protocol ?? 'auto',
    clientInfo: options.clientInfo ?? defaultClientInfo,
    onLog: options.onLog,
    onDocumentChange: options.onDocumentChange,
    relays: options.relays,
    onStderr: options.onStderr,
    onProcess: options.onProcess,
    supervisor: options.supervisor,
    installTimeoutMs: options.installTimeoutMs,
    ...{ maxMessageBytes, timeoutMs, clock, onWarning, view, elicitations },
  }
  const key = cacheKeyOf(target, {
    ...(name !== undefined && { name }),
    ...(credential !== undefined && { credential }),
    ...(view !== undefined && { view }),
  })
  // Read while connecting.
  const cached = readCache(cache, key, onWarning)
  const session = await openSession(target, { ...handshake, signal: options.signal, session: options.session })
  const connection = new Connection({
    session,
    reconnect: () => openSession(target, handshake),
    ...{ clock, timeoutMs, maxMessageBytes, onWarning, elicitations, cache, key, cached, expectIdentity },
    watchesDocuments: options.onDocumentChange !== undefined,
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

async function readCache(
  cache: ToolCache | undefined,
  key: CacheKey | undefined,
  onWarning: (warning: string) => void,
): Promise<CachedTools | undefined> {
  if (cache === undefined || key === undefined) return undefined
  try {
    return await cache.get(key)
  } catch (error) {
    onWarning(`The tool cache cannot be read: ${errorMessage(error)}`)
    return undefined
  }
}
