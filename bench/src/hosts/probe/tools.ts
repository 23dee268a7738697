/** A tool of the probe, whose definition reveals host behaviour. */
export interface ProbeTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: { readonly type: 'object'; readonly [key: string]: unknown }
  readonly _meta?: { readonly [key: string]: unknown }
}

const none = { type: 'object', properties: {} } as const

/** Text with a position mark every 50 characters: `….[00050]`. */
export function ruler(length: number): string {
  const step = 50
  return Array.from({ length: length / step }, (_, at) =>
    `[${String((at + 1) * step).padStart(6, '0')}]`.padStart(step, '.'),
  ).join('')
}

/** Returns the last position mark in a text. */
export function shownOf(text: string): number {
  return Math.max(0, ...[...text.matchAll(/\[(\d{6})\]/gu)].map(([, digits]) => Number(digits)))
}

export const rulerLength = 20_000

/** Marks that appear in only one part of a result. */
export const marks = { text: 'only-in-the-text', structured: 'only-in-the-structured-content' } as const

/** Words that appear in one hint only. */
export const hintWords = 'zeppelin marmalade'

/** Tested name lengths. */
export const nameLengths = [40, 48, 56, 64, 80, 128] as const

export function nameOf(length: number): string {
  return `named_${String(length).padStart(3, '0')}_`.padEnd(length, 'x')
}

/** Tested JSON Schema keywords, each in a property of that name. */
export const keywords: { readonly [keyword: string]: object } = {
  anyOf: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
  oneOf: { oneOf: [{ type: 'string' }, { type: 'integer' }] },
  allOf: { allOf: [{ type: 'string' }, { minLength: 2 }] },
  not: { type: 'string', not: { const: 'never' } },
  const: { const: 'always' },
  enum: { type: 'string', enum: ['one', 'two'] },
  pattern: { type: 'string', pattern: '^[a-z]+$' },
  format: { type: 'string', format: 'date-time' },
  minLength: { type: 'string', minLength: 3 },
  minimum: { type: 'integer', minimum: 5 },
  default: { type: 'integer', default: 7 },
  examples: { type: 'string', examples: ['sample'] },
  title: { type: 'string', title: 'Titled' },
  $ref: { $ref: '#/$defs/shared' },
  type: { type: ['string', 'null'] },
  additionalProperties: { type: 'object', properties: {}, additionalProperties: { type: 'integer' } },
  patternProperties: { type: 'object', patternProperties: { '^x-': { type: 'string' } } },
  prefixItems: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }] },
  minItems: { type: 'array', items: { type: 'string' }, minItems: 2 },
  uniqueItems: { type: 'array', items: { type: 'string' }, uniqueItems: true },
}

/** The tool that the probe adds when `grow` is called. */
export const grownTool: ProbeTool = { name: 'sprout', description: 'Was not there before', inputSchema: none }

export const probeTools: readonly ProbeTool[] = [
  { name: 'grow', description: 'Adds a tool, announces it, and replies when the host has listed again', inputSchema: none },
  { name: 'both', description: 'Returns text and structured content that differ', inputSchema: none },
  { name: 'eager', description: 'Asks to be listed from the start', inputSchema: none, _meta: { 'anthropic/alwaysLoad': true } },
  { name: 'hinted', description: 'Has a search hint', inputSchema: none, _meta: { 'anthropic/searchHint': hintWords } },
  { name: 'verbose', description: ruler(rulerLength), inputSchema: none },
  {
    name: 'schematic',
    description: 'Has many schema keywords',
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(Object.entries(keywords).map(([key, schema]) => [`p_${key.replace('$', '')}`, schema])),
      $defs: { shared: { type: 'string', description: 'shared-definition' } },
      additionalProperties: false,
    },
  },
  ...nameLengths.map((length) => ({
    name: nameOf(length),
    description: `Has a name of ${length} characters`,
    inputSchema: none,
  })),
  // Some hosts defer tools only above 30 tools, including their own.
  ...Array.from({ length: 20 }, (_, at) => ({ name: `padding_${at + 1}`, description: 'Does nothing', inputSchema: none })),
]
