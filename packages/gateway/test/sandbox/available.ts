import { sandboxProgram } from '@unfold-mcp/client'

/** False if no sandbox can be created on this machine. */
export const canSandbox = !('problem' in (await sandboxProgram()))

if (!canSandbox) console.warn('Skipped: tests that need bubblewrap, which is not installed or not allowed here.')
