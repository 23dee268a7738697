#!/usr/bin/env node
import { homedir } from 'node:os'
import { version } from './base/version.ts'
import { optionsOf, UsageError, usage } from './options.ts'

const exit = { failed: 1, usage: 2, noBrowser: 4 } as const

try {
  const options = optionsOf(process.argv.slice(2), {
    environment: process.env,
    home: homedir(),
    folder: process.cwd(),
    isTerminal: process.stdin.isTTY === true,
  })
  if (options.help) console.log(usage)
  else if (options.version) console.log(version)
  else {
    // Loaded on demand, so that --help is fast.
    const { start } = await import('./start.ts')
    await start(options)
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  if (error instanceof UsageError) console.error('See unfold-browser --help.')
  process.exit(codeOf(error))
}

function codeOf(error: unknown): number {
  if (error instanceof UsageError) return exit.usage
  const isAboutBrowser = error instanceof Error && (error.name === 'ChromiumMissing' || error.name === 'ChromiumFailed')
  return isAboutBrowser ? exit.noBrowser : exit.failed
}
