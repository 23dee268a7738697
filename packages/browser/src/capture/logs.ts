import type { Recording } from '../recording/recording.ts'
import type { LogEntry, LogLevel } from '../records/records.ts'
import type { EventOf } from './protocol.ts'
import { lineOf, logTextLimit, stackOf, textOf } from './rendering.ts'
import { shortened } from './text.ts'
import { addressOf } from './url.ts'

type ConsoleCall = EventOf<'Runtime.consoleAPICalled'>
type Exception = EventOf<'Runtime.exceptionThrown'>
type BrowserEntry = EventOf<'Log.entryAdded'>

const consoleLevels: { readonly [type: string]: LogLevel } = {
  error: 'error',
  assert: 'error',
  warning: 'warning',
  info: 'info',
  debug: 'debug',
}
const browserLevels: { readonly [level: string]: LogLevel } = {
  error: 'error',
  warning: 'warning',
  info: 'info',
  verbose: 'debug',
}
// These console calls carry no message.
const silent: ReadonlySet<string> = new Set(['clear', 'endGroup', 'profile', 'profileEnd'])
const withStack: ReadonlySet<string> = new Set(['error', 'assert', 'warning', 'trace'])

/** Console messages, exceptions and browser messages of a tab. */
export class Logs {
  readonly #recording: Recording
  readonly #tab: string
  readonly #now: () => number

  constructor(recording: Recording, tab: string, now: () => number) {
    this.#recording = recording
    this.#tab = tab
    this.#now = now
  }

  consoleCalled({ type, args, stackTrace, timestamp }: ConsoleCall, page: string): void {
    if (silent.has(type)) return
    const [frame] = stackTrace?.callFrames ?? []
    const stack = withStack.has(type) ? stackOf(stackTrace) : undefined
    const line = lineOf(args)
    this.#add(timestamp, page, {
      level: consoleLevels[type] ?? 'log',
      from: 'console',
      text: type === 'assert' ? `Assertion failed: ${line}` : line,
      ...(frame && { source: placeOf(frame) }),
      ...(stack !== undefined && { stack }),
    })
  }

  exceptionThrown({ exceptionDetails: details, timestamp }: Exception, page: string): void {
    const { exception, text, stackTrace, url, lineNumber, columnNumber } = details
    const [frame] = stackTrace?.callFrames ?? []
    const thrown = exception === undefined ? '' : textOf(exception)
    // The description of an error contains its stack, which is stored separately.
    const at = thrown.search(/\n\s+at /)
    const stack = at === -1 ? stackOf(stackTrace) : shortened(thrown.slice(at + 1), logTextLimit)
    const source = frame ?? (url === undefined || url === '' ? undefined : { url, lineNumber, columnNumber })
    this.#add(timestamp, page, {
      level: 'error',
      from: 'exception',
      text: shortened([text, at === -1 ? thrown : thrown.slice(0, at)].filter((part) => part !== '').join(' '), logTextLimit),
      ...(source && { source: placeOf(source) }),
      ...(stack !== undefined && { stack }),
    })
  }

  entryAdded({ entry }: BrowserEntry, page: string): void {
    const { source, level, text, timestamp, url, lineNumber = 0, stackTrace } = entry
    // A worker also reports its own messages.
    if (source === 'worker') return
    const stack = stackOf(stackTrace)
    this.#add(timestamp, page, {
      level: browserLevels[level] ?? 'info',
      from: 'browser',
      // The browser shows an element here; there is none in the text.
      text: shortened(text.replace(/ ?%o$/, ''), logTextLimit),
      ...(url !== undefined && url !== '' && { source: placeOf({ url, lineNumber, columnNumber: 0 }) }),
      ...(stack !== undefined && { stack }),
    })
  }

  /** Adds a log entry of this server. */
  note(level: LogLevel, text: string, page: string): void {
    this.#add(this.#now(), page, { level, from: 'browser', text: shortened(text, logTextLimit) })
  }

  #add(at: number, page: string, entry: Pick<LogEntry, 'level' | 'from' | 'text' | 'source' | 'stack'>): void {
    this.#recording.add('logs', { at, tab: this.#tab, url: addressOf(page), ...entry })
  }
}

function placeOf({
  url,
  lineNumber,
  columnNumber,
}: {
  url: string
  lineNumber: number
  columnNumber: number
}): NonNullable<LogEntry['source']> {
  return { url: addressOf(url), line: lineNumber + 1, column: columnNumber + 1 }
}
