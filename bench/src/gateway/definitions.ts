/** A tool definition of typical length. */
export interface Definition {
  readonly name: string
  readonly description: string
  readonly inputSchema: object
}

const inputSchema = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'Where the item is, relative to the root of the area' },
    limit: { type: 'integer', minimum: 1, maximum: 100, description: 'The most items to change' },
    recursive: { type: 'boolean', description: 'Whether to include what lies below' },
  },
  required: ['path'],
  additionalProperties: false,
}

/** Returns the initial tools of an upstream, the same on every call. */
export function definitionsOf(upstream: string, count: number): readonly Definition[] {
  return Array.from({ length: count }, (_, index) => definitionOf(`action_${index}`, `action ${index} of ${upstream}`))
}

/** Returns a tool with this name and description. */
export function definitionOf(name: string, what: string): Definition {
  return { name, description: `Applies ${what} to one item or to all items below it, and says what was done.`, inputSchema }
}

/** Tool that takes a second, for a client that occupies its server. */
export const slowTool = 'action_19'

/** Arguments of every call. */
export const sampleArguments = { path: 'reports/2026/summary.txt', limit: 20, recursive: true }

/** Returns the name of a tool that is added later. It contains a unique word, so that a search finds only this tool. */
export function lateName(number: number): string {
  const syllable = (place: number): string => {
    const digit = Math.floor(number / 100 ** place) % 100
    return `${'bdfgklmnprstvzjhwxcq'[digit % 20]}${'aeiou'[Math.floor(digit / 20)]}`
  }
  return `sort_${[2, 1, 0].map(syllable).join('')}`
}
