import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatedFolder } from '../navigation.ts'
import { repositoryFolder } from '../pages.ts'
import { writeApi } from './api.ts'
import { commandsPage } from './commands.ts'
import { configurationPage } from './configuration.ts'

/** Writes all pages that are generated from the code: configuration, commands, API. */
export async function writeReference(): Promise<void> {
  const folder = join(repositoryFolder, generatedFolder)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, 'configuration.md'),
    configurationPage(join(repositoryFolder, 'packages/gateway/unfold.schema.json')),
  )
  writeFileSync(join(folder, 'commands.md'), commandsPage())
  await writeApi(join(folder, 'api'))
}
