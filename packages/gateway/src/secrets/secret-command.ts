import { spawn } from 'node:child_process'
import { printable } from '@unfold-mcp/core'
import { maxSecretBytes, type ResolvedSecret, secretText } from './secret-file.ts'

export interface SecretCommandOptions {
  readonly cwd: string
  readonly environment: { readonly [name: string]: string | undefined }
  readonly timeoutMs: number
}

/** Splits a command line at spaces. Single and double quotes group; no other character is special. Undefined if a quote is open. */
export function splitCommand(line: string): readonly string[] | undefined {
  const words: string[] = []
  let word: string | undefined
  let quote: string | undefined
  for (const character of line) {
    if (quote === undefined && (character === '"' || character === "'")) {
      quote = character
      word ??= ''
    } else if (character === quote) quote = undefined
    else if (quote === undefined && /\s/u.test(character)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + character
  }
  if (quote !== undefined) return undefined
  return word === undefined ? words : [...words, word]
}

const maxErrorLength = 200

/** Runs a command without a shell and returns its output without the last line break. */
export async function runSecretCommand(
  line: string,
  { cwd, environment, timeoutMs }: SecretCommandOptions,
): Promise<ResolvedSecret> {
  const words = splitCommand(line)
  if (words === undefined) return { problem: 'has a quote that is not closed.' }
  const [command, ...args] = words
  if (command === undefined) return { problem: 'has no command. Name a program.' }
  const { UNFOLD_PASSPHRASE_FD: _descriptor, UNFOLD_PASSPHRASE_FILE: _file, ...env } = environment
  return new Promise((resolve) => {
    const isGroup = process.platform !== 'win32'
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: isGroup, windowsHide: true })
    const output: Buffer[] = []
    let size = 0
    let lastError = ''
    const end = (result: ResolvedSecret): void => {
      clearTimeout(timer)
      kill()
      resolve(result)
    }
    // The whole group: a child of the command could keep the pipes open.
    const kill = (): void => {
      try {
        if (isGroup && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
        else child.kill('SIGKILL')
      } catch {
        // It has ended.
      }
    }
    const timer = setTimeout(() => end({ problem: `did not end within ${timeoutMs / 1_000} seconds.` }), timeoutMs)
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > maxSecretBytes) end({ problem: `printed more than ${maxSecretBytes} bytes.` })
      else output.push(chunk)
    })
    child.stderr.on('data', (chunk: Buffer) => {
      lastError = (lastError + chunk.toString('utf8')).slice(-4_096)
    })
    child.once('error', (error) => end({ problem: startProblem(command, error) }))
    child.once('close', (code, signal) => {
      const shown = printable(lastError.trim().split('\n').at(-1) ?? '', maxErrorLength)
      if (code !== 0)
        return end({
          problem: `failed (${signal ?? `exit code ${code}`})${shown === '' ? '.' : `: ${shown}`} Run it in a terminal.`,
        })
      const value = secretText(Buffer.concat(output))
      return end(value === undefined ? { problem: 'printed nothing, or something other than UTF-8 text.' } : { value })
    })
  })
}

function startProblem(command: string, error: Error): string {
  const code = 'code' in error ? String(error.code) : error.message
  const reason = code === 'ENOENT' ? 'was not found' : `could not be started (${code})`
  return `could not run: ${printable(command)} ${reason}. Install it, or use its full path.`
}
