//#region listen
import { listen } from '@unfold-mcp/server'
import { clock } from './serving.ts'

export const start = () =>
  listen(clock, {
    port: 0, // the system chooses; 7420 by default
    sessions: { max: 500, idleMs: 10 * 60_000 },
    maxBodyBytes: 256 * 1024,
  })
//#endregion
