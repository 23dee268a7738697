//#region when
import { defineToolbox } from '@unfold-mcp/server'
import { z } from 'zod'

const recording: string[] = []

export const recorder = defineToolbox({
  name: 'recorder',
  version: '1.0.0',
  description: 'Records events and looks at them.',
  facts: () => ({ events: recording.length }),
})

recorder.tool('record', { description: 'Record an event', inputSchema: z.object({ event: z.string() }) }, ({ event }, ctx) => {
  recording.push(event)
  ctx.toolListChanged()
  return 'Recorded.'
})

recorder.tool('replay', { description: 'Replay what was recorded', when: ({ facts }) => facts.events > 0 }, () => ({
  events: recording,
}))
//#endregion

//#region outside
export function clearRecording(): void {
  recording.length = 0
  recorder.toolListChanged()
}
//#endregion
