//#region gate
import { defineToolbox } from '@unfold-mcp/server'
import { z } from 'zod'

const source = z.object({ code: z.string() })

export const analyzer = defineToolbox({
  name: 'code-analyzer',
  version: '1.0.0',
  description: 'Examines source code.',
  gate: 'Code analysis: lines, TODO comments, long functions',
})

analyzer.tool('count_lines', { description: 'Count lines of code', inputSchema: source }, ({ code }) => ({
  lines: code.split('\n').length,
}))

analyzer.tool('find_todos', { description: 'Find TODO comments', inputSchema: source }, ({ code }) => ({
  todos: code.split('\n').filter((line) => line.includes('TODO')),
}))
//#endregion

//#region always
analyzer.tool('languages', { always: true, description: 'Which languages can be analysed' }, () => 'TypeScript and JavaScript.')
//#endregion

//#region groups
export const studio = defineToolbox({
  name: 'studio',
  version: '1.0.0',
  gate: 'A recording studio: takes and mixes',
  groups: { takes: { description: 'Record and list takes' }, mixing: { description: 'Mix takes' } },
})

studio.tool('record', { group: 'takes', description: 'Record a take' }, () => 'Recorded.')
studio.tool('mix', { group: 'mixing', description: 'Mix all takes' }, () => 'Mixed.')
//#endregion
