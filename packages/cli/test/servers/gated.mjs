// A server with a gate, nested groups behind it, and a tool that requires another one.
import { defineToolbox, serve } from '@unfold-mcp/server'

const toolbox = defineToolbox({
  name: 'gated',
  version: '1.0.0',
  gate: 'Everything',
  groups: { outer: { description: 'Outer' }, inner: { description: 'Inner', parent: 'outer' } },
})
toolbox.tool('start', { always: true, description: 'Starts.' }, () => 'started')
toolbox.tool('go_on', { after: 'start', description: 'Goes on.' }, () => 'gone')
toolbox.tool('shallow', { group: 'outer', description: 'In the outer group.' }, () => 'done')
toolbox.tool('deep', { group: 'inner', description: 'In the inner group.' }, () => 'done')

await serve(toolbox)
