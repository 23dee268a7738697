import { resolve } from 'node:path'
import { CommandError, exit } from '../base/exit.ts'
import { fileExists } from '../base/file-exists.ts'
import type { Io } from '../base/io.ts'
import { configLocations } from '../config/locations.ts'

type Where = Pick<Io, 'env' | 'home' | 'cwd' | 'platform'>

/** Path of the user configuration, which may not exist. */
export function userConfigFile(io: Where): string {
  const place = configLocations(io).find(({ client, trust }) => client === 'unfold' && trust === 'user')
  return place?.file ?? resolve(io.home, 'unfold.json')
}

/** The named configuration, ./unfold.json or the user configuration, in this order. */
export async function findConfig(named: string | undefined, io: Where): Promise<string | undefined> {
  if (named !== undefined) return resolve(io.cwd, named)
  for (const file of [resolve(io.cwd, 'unfold.json'), userConfigFile(io)]) if (await fileExists(file)) return file
  return undefined
}

export async function requireConfig(named: string | undefined, io: Io): Promise<string> {
  const file = await findConfig(named, io)
  if (file !== undefined) return file
  throw new CommandError(
    exit.usage,
    'no_config',
    `No unfold.json in this folder and no ${userConfigFile(io)}. Create one:
  unfold import                           import servers from your MCP clients
  unfold add <name> -- <server command>
  unfold add <name> <url>`,
  )
}
