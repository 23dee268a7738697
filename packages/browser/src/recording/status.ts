import type { BrowserFacts } from './recording.ts'

/** Formats the buffer state as one line. */
export function statusText(facts: BrowserFacts, tabs: number, evicted: number): string {
  const { logs, errors, network, sockets, connections, actions, snapshots } = facts
  const parts = [
    `${tabs} ${tabs === 1 ? 'tab' : 'tabs'}`,
    `${logs} logs${errors > 0 ? ` (${errors} ${errors === 1 ? 'error' : 'errors'})` : ''}`,
    `${network} requests`,
    ...(connections > 0 ? [`${connections} ${connections === 1 ? 'socket' : 'sockets'}, ${sockets} events`] : []),
    `${actions} ${actions === 1 ? 'action' : 'actions'}`,
    `${snapshots} page loads measured`,
    ...(evicted > 0 ? [`${evicted} older ones gone`] : []),
  ]
  return parts.join(' · ')
}

interface Screen {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/** Status line at the bottom of a terminal, rewritten in place; silent without a terminal. */
export class StatusLine {
  readonly #screen: Screen
  readonly #text: () => string
  #timer: NodeJS.Timeout | undefined
  #last = ''

  constructor(screen: Screen, text: () => string) {
    this.#screen = screen
    this.#text = text
  }

  /** Schedules an update; many changes cause one rewrite. */
  refresh(): void {
    if (this.#screen.isTTY !== true || this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#draw()
    }, 250)
    this.#timer.unref()
  }

  /** Prints a line above the status line. */
  print(line: string): void {
    this.#screen.write(this.#last === '' ? `${line}\n` : `\r\u001b[2K${line}\n`)
    this.#last = ''
    this.refresh()
  }

  /** Restores the terminal. */
  end(): void {
    clearTimeout(this.#timer)
    if (this.#last !== '') this.#screen.write('\n')
    this.#last = ''
  }

  #draw(): void {
    // Some terminals report zero columns.
    const line = this.#text().slice(0, (this.#screen.columns || 80) - 1)
    if (line === this.#last) return
    this.#last = line
    this.#screen.write(`\r\u001b[2K${line}`)
  }
}
