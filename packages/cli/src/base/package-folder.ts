import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Root of this package. Compiled files and the bundle have different depths below it. */
export const packageFolder: string = folderAbove(dirname(fileURLToPath(import.meta.url)))

export const manifest = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as {
  readonly version: string
  readonly dependencies: { readonly [name: string]: string }
}

function folderAbove(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : folderAbove(dirname(folder))
}
