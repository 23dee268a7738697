import { defineToolbox } from '@unfold-mcp/server'

export const clock = defineToolbox({ name: 'clock', version: '1.0.0' })
clock.tool('now', { description: 'The date and time' }, () => new Date().toISOString())
