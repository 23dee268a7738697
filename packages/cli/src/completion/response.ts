import type { Candidate } from './candidate.ts'
import { type CompletionCache, complete } from './complete.ts'

/**
 * Response to a shell script: `words` or `files`, then one candidate per line, for zsh and fish with a tab and a description. The
 * request is `bash <line up to the cursor> <piece>` or `zsh|fish <cursor> <words …>`.
 */
export async function completionResponse(question: readonly string[], cache: CompletionCache): Promise<string> {
  const [shell, ...rest] = question
  return shell === 'bash' ? bashResponse(rest, cache) : wordsResponse(rest, cache)
}

async function wordsResponse([cursor = '0', ...words]: readonly string[], cache: CompletionCache): Promise<string> {
  const { candidates, files } = await complete({ words, cursor: Number(cursor), cache })
  return lines(files, candidates.map(withDescription))
}

const withDescription = ({ value, description }: Candidate): string =>
  description === undefined ? value : `${value}\t${description}`

async function bashResponse([line = '', piece = '']: readonly string[], cache: CompletionCache): Promise<string> {
  const { splitLine } = await import('./line.ts')
  const { words, quote } = splitLine(line)
  const current = words.at(-1) ?? ''
  const { candidates, files } = await complete({ words: words.slice(1), cursor: words.length - 2, cache })
  // Bash also splits words at `=` and `:`, and replaces only the last piece.
  const kept = current.endsWith(piece) ? current.length - piece.length : current.search(/[^=:]*$/u)
  return lines(
    files,
    candidates.map(({ value }) => (quote === '' ? escaped(value.slice(kept)) : value.slice(kept))),
  )
}

const escaped = (word: string): string => word.replaceAll(/[^\p{L}\p{M}\p{N}_@%+=:,./-]/gu, (char) => `\\${char}`)

const lines = (files: boolean, found: readonly string[]): string => `${[files ? 'files' : 'words', ...found].join('\n')}\n`
