import { firstSentence } from '@unfold-mcp/core'
import type { Runtime } from './runtime.ts'
import type { Scope } from './scope.ts'
import { sentence } from './surface.ts'

const named = 24

/** What a model reads when it connects: what the server is for, and what it can open. */
export function instructionsFor(runtime: Runtime, scope: Scope): string | undefined {
  const { about, instructions, gated, groups } = runtime.declaration
  if (instructions !== undefined) return instructions
  const intro = about === undefined ? [] : [sentence(about)]
  if (scope.frame.canActivate && gated) {
    const behind = Object.values(groups)[0]?.about ?? ''
    return [...intro, `Call activate to list its tools: ${sentence(behind)}`].join('\n')
  }
  const known = runtime.groups(scope)
  if (known.length === 0) return intro[0]
  const lines = known.slice(0, named).map(({ name, about: what, activator }) => {
    const how = scope.frame.canActivate ? `${name} (${activator})` : name
    return `- ${how}: ${sentence(firstSentence(what))}`
  })
  const more = known.length > named ? [`- … and ${known.length - named} more`] : []
  const lead = scope.frame.canActivate
    ? 'Tools come in groups that you open when you need them, by calling the tool named in brackets:'
    : 'Its tools come in these groups:'
  return [...intro, lead, ...lines, ...more].join('\n')
}
