#!/usr/bin/env node
import * as modules from 'node:module'

// Available from Node 22.
const { enableCompileCache } = modules as { readonly enableCompileCache?: () => unknown }
enableCompileCache?.()

// Everything else is loaded on demand: completion and help must be fast.
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
  // The modules that format errors may be what failed to load.
  const message = error instanceof Error ? error.message : String(error)
  const isFileLimit = error instanceof Error && 'code' in error && error.code === 'EMFILE'
  process.stderr.write(`error: ${message}${isFileLimit ? ' Raise the limit of open files (ulimit -n).' : ''}\n`)
  process.exitCode = error instanceof Error && error.name === 'CommandError' && 'code' in error ? Number(error.code) : 1
}
