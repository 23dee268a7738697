import { randomInt } from 'node:crypto'
import { definePlugin, ToolError } from '@unfold-mcp/server/plugins/define'

const notation = /^(\d{1,3})?d(\d{1,4})([+-]\d{1,4})?$/i

export default definePlugin({
  name: 'dice',
  tools: [
    {
      name: 'roll_dice',
      description: 'Roll dice, written as players do: 2d6, d20, 3d8+2.',
      inputSchema: {
        type: 'object',
        properties: { dice: { type: 'string', description: 'Number and sides of the dice, and what to add', default: '1d6' } },
      },
      annotations: { readOnlyHint: true, openWorldHint: false },
      handler({ dice = '1d6' }) {
        const [, count = '1', sides = '', more = '0'] = notation.exec(dice.trim()) ?? []
        if (!(Number(sides) > 0)) throw new ToolError(`Invalid dice "${dice}". Examples: 2d6, d20+1.`)
        const rolls = Array.from({ length: Number(count) }, () => randomInt(1, Number(sides) + 1))
        return { rolls, total: rolls.reduce((sum, roll) => sum + roll, Number(more)) }
      },
    },
    {
      name: 'pick_one',
      description: 'Pick one of several things, each with the same chance.',
      inputSchema: {
        type: 'object',
        properties: { of: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 1_000 } },
        required: ['of'],
      },
      annotations: { readOnlyHint: true, openWorldHint: false },
      handler: ({ of }) => of[randomInt(of.length)],
    },
  ],
})
