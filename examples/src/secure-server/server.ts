/**
 * Shows two ways to hide tools. `permit` decides by caller: a tool that is not permitted does not exist for them. A conditional
 * tool depends on shared state: `admin_reset` exists while the owner has granted "admin". Both must apply. Over HTTP a token
 * identifies the caller; tokens are created and printed at start.
 *
 *   npm run -s example -- secure-server --http 8000      at http://127.0.0.1:8000/mcp, with a token
 *   npm run -s example -- secure-server                  over standard input and output, as owner
 */
import { defineToolbox, ToolRegistry } from '@unfold-mcp/server'
import { z } from 'zod'
import { permit } from './access.ts'
import { settingsInMemory } from './settings.ts'

const permissionSchema = z.enum(['admin']).describe('The permission')

export function secureServer() {
  const settings = settingsInMemory()
  const granted = new Set<string>()

  const registry = new ToolRegistry()
  registry.registerConditional(
    'admin_reset',
    { description: 'Reset system state (admin only)', annotations: { destructiveHint: true, openWorldHint: false } },
    () => granted.has('admin'),
    () => {
      settings.reset()
      return 'System reset'
    },
  )

  return defineToolbox({
    name: 'secure-server',
    version: '1.0.0',
    description: 'Looks after settings. What you see is what you may use.',
    permit,
  })
    .use(registry)
    .tool('whoami', { description: 'Who you are to this server.', readOnly: true }, (_, { principal }) => ({
      role: principal?.role,
    }))
    .tool('read_settings', { description: 'Read all settings.', readOnly: true }, () => settings.all())
    .tool(
      'change_setting',
      {
        description: 'Change a setting.',
        inputSchema: z.object({ name: z.string(), value: z.string().max(200) }),
        destructive: true,
        idempotent: true,
      },
      ({ name, value }) => {
        settings.set(name, value)
        return `${name} is now ${value}.`
      },
    )
    .tool(
      'grant_permission',
      {
        description: 'Grant a permission, which reveals the tools that need it.',
        inputSchema: z.object({ permission: permissionSchema }),
        idempotent: true,
      },
      ({ permission }, ctx) => {
        granted.add(permission)
        ctx.toolListChanged()
        return `Granted: ${permission}.`
      },
    )
    .tool(
      'revoke_permission',
      { description: 'Take a permission back.', inputSchema: z.object({ permission: permissionSchema }), idempotent: true },
      ({ permission }, ctx) => {
        granted.delete(permission)
        ctx.toolListChanged()
        return `Revoked: ${permission}.`
      },
    )
}
