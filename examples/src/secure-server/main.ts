import { serve } from '@unfold-mcp/server'
import { byToken, local, makeTokens } from './access.ts'
import { secureServer } from './server.ts'

const tokens = makeTokens()
if (process.argv.includes('--http')) {
  for (const [token, { role }] of tokens) console.error(`As ${role}, send: Authorization: Bearer ${token}`)
}

await serve(secureServer(), { authenticate: byToken(tokens), principal: local })
