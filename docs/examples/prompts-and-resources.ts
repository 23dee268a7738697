//#region extend
import { completable, ResourceTemplate } from '@modelcontextprotocol/server'
import { defineToolbox } from '@unfold-mcp/server'
import { z } from 'zod'

const recipes = new Map([
  ['soup', 'Boil tomatoes.'],
  ['salad', 'Cut cucumbers.'],
])
const names = (start: string): string[] => [...recipes.keys()].filter((name) => name.startsWith(start))

export const cookbook = defineToolbox({
  name: 'cookbook',
  version: '1.0.0',
  groups: { shopping: { description: 'Shopping lists' } },
})

cookbook.tool('add_to_list', { group: 'shopping', description: 'Add to the list' }, () => 'Added.')

cookbook.extend((mcp) => {
  mcp.registerPrompt(
    'cook',
    { description: 'Cook a dish', argsSchema: z.object({ dish: completable(z.string(), names) }) },
    ({ dish }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Help me cook ${dish}.` } }] }),
  )
  mcp.registerResource(
    'recipe',
    new ResourceTemplate('recipe://{name}', { list: undefined, complete: { name: names } }),
    { description: 'A recipe' },
    (uri, { name }) => ({ contents: [{ uri: uri.href, text: recipes.get(String(name)) ?? 'There is none.' }] }),
  )
})
//#endregion
