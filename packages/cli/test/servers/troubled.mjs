// A server with every problem that a preview warns about.
import { defineToolbox, serve } from '@unfold-mcp/server'

const long = 'This sentence says nothing that a model needs to know. '.repeat(60)
const down = () => {
  throw new Error('the database is down')
}
const toolbox = defineToolbox({
  name: 'troubled',
  version: '1.0.0',
  instructions: long,
  groups: {
    empty: { description: 'Nothing' },
    broken: { description: 'A group whose hook fails', hooks: { activate: down } },
    locked: { description: 'A group that nothing opens' },
    outer: { description: 'A group with another one inside' },
    inner: { description: 'The group inside', parent: 'outer' },
  },
})
const text = { type: 'object', properties: { format: { type: 'string', pattern: '^a', minLength: 2 } }, required: ['format'] }
toolbox.tool('undescribed', {}, () => 'done')
toolbox.tool('verbose', { description: long }, () => 'done')
toolbox.tool('a_tool_with_a_name_that_is_longer_than_most_hosts_can_take_here', { description: 'Long name.' }, () => 'done')
toolbox.tool('strict', { description: 'Uses keywords.', inputSchema: text }, () => 'done')
toolbox.tool('in_broken', { group: 'broken', description: 'Cannot be reached.' }, () => 'done')
toolbox.tool('in_locked', { group: 'locked', description: 'Cannot be reached.' }, () => 'done')
toolbox.tool('unlock', { activator: 'locked', description: 'Unlocks.', when: () => false }, (_, ctx) => ctx.activate('locked'))
toolbox.tool('in_inner', { group: 'inner', description: 'In the group inside.' }, () => 'done')

await serve(toolbox)
