import { definePlugin, ToolError } from '@unfold-mcp/server/plugins/define'

export default definePlugin({
  name: 'greetings',
  tools: [
    {
      name: 'greet',
      description: 'Greet somebody',
      inputSchema: {
        type: 'object',
        properties: { name: { type: 'string' } },
        required: ['name'],
      },
      handler({ name }) {
        if (name === '') throw new ToolError('Nobody can be greeted without a name.')
        return `Hello, ${name}!`
      },
    },
  ],
})
