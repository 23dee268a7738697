//#region gate
import { defineToolbox } from '@unfold-mcp/server'
import { z } from 'zod'

const source = z.object({ code: z.string() })

export const analyzer = defineToolbox({
  name: 'code-analyzer',
  version: '1.0.0',
  about: 'Examines source code.',
  gate: 'Code analysis: lines, TODO comments, long functions',
})

analyzer.tool('count_lines', { about: 'Count lines of code', input: source }, ({ code }) => ({
  lines: code.split('\n').length,
}))

analyzer.tool('find_todos', { about: 'Find TODO comments', input: source }, ({ code }) => ({
  todos: code.split('\n').filter((line) => line.includes('TODO')),
}))
//#endregion

//#region always
analyzer.tool('languages', { always: true, about: 'Which languages can be analysed' }, () => 'TypeScript and JavaScript.')
//#endregion

//#region groups
export const studio = defineToolbox({
  name: 'studio',
  version: '1.0.0',
  gate: 'A recording studio: takes and mixes',
  groups: { takes: { about: 'Record and list takes' }, mixing: { about: 'Mix takes' } },
})

studio.tool('record', { group: 'takes', about: 'Record a take' }, () => 'Recorded.')
studio.tool('mix', { group: 'mixing', about: 'Mix all takes' }, () => 'Mixed.')
//#endregion
