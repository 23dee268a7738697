// A server with a gate, groups inside each other behind it, and a tool that waits for another one.
import { defineToolbox, serve } from '@unfold-mcp/server'

const toolbox = defineToolbox({
  name: 'gated',
  version: '1.0.0',
  gate: 'Everything',
  groups: { outer: { about: 'Outer' }, inner: { about: 'Inner', parent: 'outer' } },
})
toolbox.tool('start', { always: true, about: 'Starts.' }, () => 'started')
toolbox.tool('go_on', { after: 'start', about: 'Goes on.' }, () => 'gone')
toolbox.tool('shallow', { group: 'outer', about: 'In the outer group.' }, () => 'done')
toolbox.tool('deep', { group: 'inner', about: 'In the inner group.' }, () => 'done')

await serve(toolbox)
