import { createInterface } from 'node:readline'
import { printable } from '@unfold-mcp/core'

/** Prints lines to a user or script, and reads lines. */
export interface Terminal {
  say(text: string): void
  /** Reads the next line; `undefined` at the end of the input. */
  ask(prompt: string): Promise<string | undefined>
  close(): void
}

/** A terminal over streams. Lines that arrive early are queued. */
export function terminalOver(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Terminal {
  const reader = createInterface({ input })
  const lines: string[] = []
  let isOver = false
  let asked: { readonly prompt: string; readonly answer: (line: string | undefined) => void } | undefined
  reader.on('line', (line) => {
    if (asked === undefined) lines.push(line)
    else asked.answer(line)
  })
  reader.on('close', () => {
    isOver = true
    asked?.answer(undefined)
  })
  return {
    say(text) {
      // Output during a question is printed before it.
      output.write(asked === undefined ? `${text}\n` : `\r${text}\n${asked.prompt}`)
    },
    ask(prompt) {
      output.write(prompt)
      const line = lines.shift()
      if (line !== undefined || isOver) return Promise.resolve(line)
      return new Promise((resolve) => {
        const answer = (given: string | undefined): void => {
          asked = undefined
          resolve(given)
        }
        asked = { prompt, answer }
      })
    },
    close: () => reader.close(),
  }
}

/** Sanitizes multi-line text from a server. */
export const shown = (text: string): string =>
  text
    .split('\n')
    .map((line) => printable(line, 2_000))
    .join('\n')
