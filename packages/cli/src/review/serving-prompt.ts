import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { ConfigEdit, EditDecision } from '@unfold-mcp/gateway'
import type { Io } from '../base/io.ts'
import type { Output } from '../output/output.ts'
import { plural } from '../text/number.ts'
import { editText } from './configuration-edits.ts'

export interface ServingPromptOptions {
  readonly io: Io
  readonly output: Output
  readonly decide: (decision: EditDecision) => Promise<unknown>
}

/**
 * Asks about edits on the terminal of a running gateway. Log lines may appear at any time, so it reads a line instead of drawing a
 * prompt. An answer applies to the edits that were shown before it; later ones are shown after it.
 */
export function servingPrompt({ io, output, decide }: ServingPromptOptions): (edits: readonly ConfigEdit[]) => void {
  const queue: ConfigEdit[] = []
  let isAsking = false
  const ask = async (): Promise<void> => {
    isAsking = true
    while (queue.length > 0 && !io.signal.aborted && isForeground(io.platform)) {
      const edits = queue.splice(0)
      for (const edit of edits) output.note(editText(edit, output))
      output.note(
        `Approve ${plural(edits.length, 'edit')}? Type y and press Enter to apply, n and Enter to reject, or only Enter to decide later (unfold review).`,
      )
      const answer = (await nextLine(io)).trim().toLowerCase()
      const digests = edits.map(({ digest }) => digest)
      if (/^y(?:es)?$/u.test(answer)) await decide({ approve: digests })
      else if (/^no?$/u.test(answer)) await decide({ reject: digests })
    }
    isAsking = false
  }
  return (edits) => {
    queue.push(...edits)
    if (!isAsking) void ask()
  }
}

function nextLine({ stdin, signal }: Io): Promise<string> {
  return new Promise((resolve) => {
    const lines = createInterface({ input: stdin, terminal: false })
    lines.once('line', (line) => {
      // Before `close`, which resolves to nothing.
      resolve(line)
      lines.close()
    })
    const close = (): void => lines.close()
    signal.addEventListener('abort', close)
    lines.once('close', () => {
      signal.removeEventListener('abort', close)
      stdin.pause()
      resolve('')
    })
  })
}

/** Reading from the terminal stops a process in the background, as with `unfold serve &`. */
function isForeground(platform: NodeJS.Platform): boolean {
  if (platform === 'win32') return true
  try {
    const [group, foreground] = platform === 'linux' ? linuxGroups() : psGroups()
    return group !== undefined && group === foreground
  } catch {
    return false
  }
}

// The name of the program, in parentheses, may contain spaces.
function linuxGroups(): readonly (string | undefined)[] {
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /su, '')
    .split(' ')
  return [fields[2], fields[5]]
}

const psGroups = (): readonly (string | undefined)[] =>
  execFileSync('ps', ['-o', 'pgid=,tpgid=', '-p', String(process.pid)], { encoding: 'utf8' })
    .trim()
    .split(/\s+/u)
