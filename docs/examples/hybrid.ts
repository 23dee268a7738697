//#region hybrid
import { defineToolbox, ToolRegistry } from '@unfold-mcp/server'

export const extras = new ToolRegistry({ name: 'extras' })

export const hybrid = defineToolbox({
  name: 'hybrid',
  version: '1.0.0',
  groups: { core: { description: 'The core of this server' } },
})
  .tool('core_function', { group: 'core', description: 'What this server is for' }, () => 'Done.')
  .use(extras)

extras.register('hello', { description: 'Say hello' }, () => 'Hello!')
extras.registerInGroup('core_extra', { description: 'An addition to the core' }, 'core', () => 'Added.')
extras.registerConditional(
  'after_core',
  { description: 'Only with the core' },
  (snapshot) => snapshot.isActive('core'),
  () => 'After.',
)
//#endregion
