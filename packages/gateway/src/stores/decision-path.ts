import { createHash } from 'node:crypto'
import { join, resolve } from 'node:path'

/** Path of decisions, separate for each configuration file. `home` is the data folder. */
export const decisionPath = (home: string, kind: 'trust' | 'approvals' | 'scripts', config: string): string =>
  join(home, kind, `${createHash('sha256').update(resolve(config)).digest('hex').slice(0, 16)}.db`)
