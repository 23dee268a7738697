//#region pool
import { fileCache, Pool, type Target } from '@unfold-mcp/client'

export const pool = new Pool({ cache: fileCache('.cache/tools'), idleMs: 30_000 })

export const water = (garden: Target, bed: number, gardener: string) =>
  pool.use(garden, (connection) => connection.call('water', { bed }), { credential: gardener })
//#endregion
