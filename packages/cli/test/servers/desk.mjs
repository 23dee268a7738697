// Tools of many kinds, for interactive and scripted tests.
import { defineToolbox, serve } from '@unfold-mcp/server'

const object = (properties, required = []) => ({ type: 'object', properties, required })
const desk = defineToolbox({ name: 'desk', version: '1.2.3', exposure: 'everything' })

desk.tool(
  'echo',
  {
    description: 'Says what it was given.',
    inputSchema: object({
      json: { type: 'string' },
      help: { type: 'string' },
      text: { type: 'string' },
      deep: object({ name: { type: 'string' } }),
    }),
  },
  (args) => JSON.stringify(args),
)
desk.tool(
  'book',
  {
    description: 'Books a table.',
    inputSchema: object(
      {
        guests: { type: 'integer', minimum: 1, maximum: 8, description: 'How many come' },
        name: { type: 'string', pattern: '^[A-Z][a-z]+$' },
        room: { enum: ['hall', 'garden'] },
        code: { type: 'string', format: 'password' },
        quiet_corner: { type: 'boolean' },
        wishes: { type: 'array', items: { type: 'string' } },
      },
      ['guests', 'name', 'room', 'code'],
    ),
  },
  (args) => JSON.stringify(args),
)
desk.tool('fail', { description: 'Fails.' }, () => {
  throw new Error('the pencil broke')
})
desk.tool('paint', { description: 'A picture.' }, () => ({
  content: [
    {
      type: 'image',
      mimeType: 'image/png',
      data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    },
  ],
}))
desk.tool('shout', { description: 'Control characters.' }, () => 'red \u001b[31mhot\u001b[0m \u001b]0;title\u0007 \u001b[2J gone')
desk.tool('many', { description: 'Many lines.' }, () => Array.from({ length: 200_000 }, (_, at) => `line ${at}`).join('\n'))
desk.tool(
  'slow',
  { description: 'Takes its time.', inputSchema: object({ steps: { type: 'integer' } }) },
  async ({ steps = 5 }, context) => {
    for (let at = 1; at <= steps; at++) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      await context.progress?.(at, steps, `step ${at} by ${process.pid}`)
    }
    return 'done'
  },
)

await serve(desk)
