#!/usr/bin/env node
import * as modules from 'node:module'

// From version 22 on, Node can keep what it compiled for the next start.
const { enableCompileCache } = modules as { readonly enableCompileCache?: () => unknown }
enableCompileCache?.()

// Only what every start needs is loaded here: a shell that completes a word, or a person who asks for help, waits for it.
const argv = process.argv.slice(2)
const [first, second] = argv

if (first === '__complete') {
  const { completeCommand } = await import('./completion/command.ts')
  process.exitCode = await completeCommand(argv.slice(1))
} else if (first === undefined || first === '--help' || first === '-h' || (first === 'help' && second === undefined)) {
  const { generalHelp } = await import('./help.ts')
  process.stdout.write(`${generalHelp()}\n`)
} else if (first === '--version' || first === '-v' || first === 'version') {
  const { version } = await import('./version.ts')
  process.stdout.write(`${version}\n`)
} else {
  const { run } = await import('./run.ts')
  await run(argv)
}
