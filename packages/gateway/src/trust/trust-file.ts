import { createHash } from 'node:crypto'
import { join, resolve } from 'node:path'

/** Path of the decisions about the servers of a configuration file. `home` is the data folder. */
export const trustFile = (home: string, config: string): string =>
  join(home, 'trust', `${createHash('sha256').update(resolve(config)).digest('hex').slice(0, 16)}.db`)
