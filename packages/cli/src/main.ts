#!/usr/bin/env node
import * as modules from 'node:module'

// From version 22 on, Node can keep what it compiled for the next start.
const { enableCompileCache } = modules as { readonly enableCompileCache?: () => unknown }
enableCompileCache?.()

// Only what every start needs is loaded here: a shell that completes a word, or a person who asks for help, waits for it.
const argv = process.argv.slice(2)
const [first, second] = argv

try {
  if (first === '__complete') {
    const { completeCommand } = await import('./completion/command.ts')
    process.exitCode = await completeCommand(argv.slice(1))
  } else if (first === undefined || first === '--help' || first === '-h' || first === 'help') {
    const { verbHelp } = await import('./grammar/help.ts')
    process.stdout.write(`${verbHelp(first === 'help' ? (second ?? '') : '', process.stdout.columns)}\n`)
  } else if (first === '--version' || first === '-v' || first === 'version') {
    const {
      manifest: { version },
    } = await import('./base/package-folder.ts')
    process.stdout.write(`${version}\n`)
  } else {
    const { run } = await import('./run.ts')
    await run(argv)
  }
} catch (error) {
  // What would say it better could not be loaded, or needs what is missing.
  const [isFull, words] =
    error instanceof Error ? ['code' in error && error.code === 'EMFILE', error.message] : [false, String(error)]
  const hint = isFull ? ' This process may open too few files: raise the limit (ulimit -n).' : ''
  process.stderr.write(`error: ${words}${hint}\n`)
  process.exitCode = error instanceof Error && error.name === 'CommandError' && 'code' in error ? Number(error.code) : 1
}
