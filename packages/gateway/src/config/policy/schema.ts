import { isIP, isIPv4 } from 'node:net'
import { domainToASCII } from 'node:url'
import * as z from 'zod'
import { patternProblem } from './pattern-problem.ts'

const shortText = z.string().min(1, 'is empty').max(200, 'is longer than 200 characters')

const oneOrMore = <T extends z.ZodType>(item: T) => z.union([item, z.array(item).min(1)])

const patterns = oneOrMore(shortText)

const pattern = z
  .string()
  .max(500, 'is longer than 500 characters')
  .superRefine((source, context) => {
    const problem = patternProblem(source)
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem })
  })

const count = z.int().min(0)
const type = z.enum(['null', 'boolean', 'object', 'array', 'number', 'integer', 'string'])

/** Keywords that the validator supports. Others are errors: a misspelt keyword would permit more than its author intended. */
const keywords = z.strictObject({
  type: oneOrMore(type).optional(),
  const: z.unknown().optional(),
  enum: z.array(z.unknown()).min(1).optional(),
  get properties() {
    return z.record(z.string(), argumentSchema).optional()
  },
  required: z.array(z.string()).optional(),
  get patternProperties() {
    return z.record(pattern, argumentSchema).optional()
  },
  get additionalProperties() {
    return argumentSchema.optional()
  },
  get propertyNames() {
    return argumentSchema.optional()
  },
  minProperties: count.optional(),
  maxProperties: count.optional(),
  get items() {
    return argumentSchema.optional()
  },
  get prefixItems() {
    return z.array(argumentSchema).optional()
  },
  get contains() {
    return argumentSchema.optional()
  },
  minContains: count.optional(),
  maxContains: count.optional(),
  minItems: count.optional(),
  maxItems: count.optional(),
  uniqueItems: z.boolean().optional(),
  minLength: count.optional(),
  maxLength: count.optional(),
  pattern: pattern.optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  exclusiveMinimum: z.number().optional(),
  exclusiveMaximum: z.number().optional(),
  multipleOf: z.number().positive().optional(),
  get not() {
    return argumentSchema.optional()
  },
  get allOf() {
    return z.array(argumentSchema).min(1).optional()
  },
  get anyOf() {
    return z.array(argumentSchema).min(1).optional()
  },
  get oneOf() {
    return z.array(argumentSchema).min(1).optional()
  },
  title: z.string().optional(),
  description: z.string().optional(),
})

// The type is declared because the schema refers to itself.
const argumentSchema: z.ZodType<ArgumentSchema, ArgumentSchema> = z.union([z.boolean(), z.lazy(() => keywords)])

/** JSON Schema that the arguments of a call are compared with. */
export type ArgumentSchema = boolean | { readonly [keyword: string]: unknown }

const argument = oneOrMore(shortText).describe('Name of an argument, or several; an array of texts counts as all of them')

const folders = z
  .array(
    z
      .string()
      .min(1, 'is empty')
      .max(4_096, 'is longer than 4,096 characters')
      .refine((text) => !text.includes('\0'), 'contains a NUL character'),
  )
  .min(1)

const path = z
  .strictObject({
    argument,
    inside: folders.optional().describe('Folders, relative to the folder of this file'),
    outside: folders.optional().describe('Folders, relative to the folder of this file'),
    relativeTo: folders.element
      .optional()
      .describe('Folder that relative paths start from. Default: it is unknown where a relative path leads'),
  })
  .refine(({ inside, outside }) => (inside === undefined) !== (outside === undefined), 'needs either "inside" or "outside"')

/** True for a host name, `*.` and a domain, an IP address or a network. */
function isHostEntry(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version !== 0)
    return rest.length === 0 && (bits === undefined || (/^\d{1,3}$/u.test(bits) && Number(bits) <= (version === 4 ? 32 : 128)))
  const name = text.replace(/^\*\./u, '')
  return /^[^\s/@:\\?#%*[\]]{1,253}$/u.test(name) && domainToASCII(name) !== '' && !isIPv4(domainToASCII(name))
}

const hosts = z
  .array(
    z
      .string()
      .refine(isHostEntry, 'must be a host name, *.domain, an IP address or a network such as 10.0.0.0/8, without a port'),
  )
  .min(1)

const host = z
  .strictObject({ argument, in: hosts.optional(), notIn: hosts.optional() })
  .refine((value) => (value.in === undefined) !== (value.notIn === undefined), 'needs either "in" or "notIn"')

const annotations = z
  .strictObject({ readOnly: z.boolean(), destructive: z.boolean(), idempotent: z.boolean(), openWorld: z.boolean() })
  .partial()

const effect = z.enum(['allow', 'deny', 'ask'])

const rule = z.strictObject({
  effect,
  reason: z
    .string()
    .max(500, 'is longer than 500 characters')
    .optional()
    .describe('Shown to the model, or to the person who is asked'),
  server: patterns.optional().describe('Servers; * matches any characters'),
  tool: patterns.optional().describe('Tools by their names on the server; * matches any characters'),
  annotations: annotations
    .optional()
    .describe('Hints of the server. Defaults of the protocol: not read-only, destructive, not idempotent, open world'),
  profile: oneOrMore(shortText).optional(),
  token: oneOrMore(shortText).optional().describe('Names of client tokens'),
  arguments: argumentSchema.optional().describe('JSON Schema that the arguments match'),
  path: path.optional().describe('Where the paths in the arguments lead, on the machine of the gateway'),
  host: host.optional().describe('Hosts of the URLs in the arguments'),
})

/** Also applies without a policy: calls of scripts can need approval. */
export const defaultApprovalTimeoutMs = 120_000

export const policy = z.strictObject({
  default: effect.default('allow').describe('For calls that no rule applies to'),
  rules: z.array(rule).default([]).describe('The first rule whose conditions all hold decides'),
  approvalTimeoutMs: z
    .int()
    .min(1_000, 'is shorter than a second')
    .max(600_000, 'is longer than ten minutes')
    .default(defaultApprovalTimeoutMs)
    .describe('How long a person can answer an "ask" rule; then the call is denied'),
})

export type PolicyConfig = z.output<typeof policy>
export type PolicyRule = z.output<typeof rule>

const keys = {
  policy: Object.keys(policy.shape),
  rule: Object.keys(rule.shape),
  annotations: Object.keys(annotations.shape),
  path: Object.keys(path.shape),
  host: Object.keys(host.shape),
  arguments: Object.keys(keywords.shape),
} as const

/** Returns the allowed keys of the object at `path`, which starts with `policy`. */
export function policyKeysAt(at: readonly PropertyKey[]): readonly string[] {
  const [, , , part] = at
  if (at.length === 1) return keys.policy
  if (at.length === 3) return keys.rule
  if (part === 'arguments') return keys.arguments
  return at.length === 4 && (part === 'annotations' || part === 'path' || part === 'host') ? keys[part] : []
}

/** Returns the items of a setting that is one value or several. */
export const listOf = <T>(value: T | readonly T[] | undefined): readonly T[] =>
  value === undefined ? [] : Array.isArray(value) ? (value as readonly T[]) : [value as T]
