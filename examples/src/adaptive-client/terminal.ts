import { createInterface } from 'node:readline'
import { printable } from '@unfold-mcp/core'

/** A person or script that is told lines and asked for lines. */
export interface Terminal {
  say(text: string): void
  /** The next line; nothing when there are no more. */
  ask(prompt: string): Promise<string | undefined>
  close(): void
}

/** A terminal over streams. Lines that come before they are asked for wait. */
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
      // What is said while a question stands is put before it.
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

/** Text of a server's over several lines, safe to show. */
export const shown = (text: string): string =>
  text
    .split('\n')
    .map((line) => printable(line, 2_000))
    .join('\n')
