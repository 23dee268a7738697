import type { Tool } from '@unfold-mcp/client'
import type { HostProfile } from '@unfold-mcp/core'
import type { Transcript } from '../src/preview/transcript.ts'

/** A tool with a description and no parameters. */
export const tool = (name: string, more: Partial<Tool> = {}): Tool => ({
  name,
  description: 'Does something.',
  inputSchema: { type: 'object' },
  ...more,
})

/** The responses of a server without tools to a session client. */
export const transcript = (more: Partial<Transcript>): Transcript => ({
  era: 'session',
  revision: '2025-11-25',
  server: { name: 'desk', version: '1.0.0' },
  tools: [],
  instructions: undefined,
  outline: undefined,
  steps: [],
  unlisted: [],
  skipped: [],
  ...more,
})

/** A host without limits that re-lists in time. */
export const plainHost: HostProfile = {
  id: 'plain',
  title: 'Plain',
  clientNames: ['plain'],
  era: 'session',
  relists: 'immediately',
  passes: 'text',
  defers: 'never',
  hints: [],
  limits: {},
  droppedKeywords: [],
}
