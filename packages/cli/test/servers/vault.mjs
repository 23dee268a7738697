// Leaks its secrets into its log, and proves that it has them without printing them.
import { createHash } from 'node:crypto'
import { defineToolbox, serve } from '@unfold-mcp/server'

const names = (process.env.VAULT_NAMES ?? '').split(',').filter((name) => name !== '')
for (const name of names) process.stderr.write(`${name} is ${process.env[name]}\n`)

const vault = defineToolbox({ name: 'vault', exposure: 'everything' })
vault.tool('digests', { description: 'Digests of its variables.' }, () =>
  JSON.stringify(
    Object.fromEntries(
      names.map((name) => [
        name,
        createHash('sha256')
          .update(process.env[name] ?? '')
          .digest('hex'),
      ]),
    ),
  ),
)
vault.tool('leak', { description: 'Fails with a secret.' }, () => {
  throw new Error(`denied for ${names.map((name) => process.env[name]).join(' ')}`)
})
await serve(vault)
