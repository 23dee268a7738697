import { fileURLToPath } from 'node:url'
import { connect, isClientError, type Target } from '@unfold-mcp/client'
import { converse } from './program.ts'
import { terminalOver } from './terminal.ts'

const [first, ...rest] = process.argv.slice(2)
const terminal = terminalOver(process.stdin, process.stdout)
try {
  await using connection = await connect(targetOf(first, rest), { name: 'adaptive-client' })
  await converse(connection, terminal)
} catch (error) {
  if (!isClientError(error)) throw error
  console.error(error.message)
  process.exitCode = 1
} finally {
  terminal.close()
}

function targetOf(word: string | undefined, args: readonly string[]): Target {
  if (word === undefined)
    return { command: process.execPath, args: [fileURLToPath(new URL('../plugin-folder/main.js', import.meta.url))] }
  return /^https?:/iu.test(word) ? { url: word } : { command: word, args }
}
