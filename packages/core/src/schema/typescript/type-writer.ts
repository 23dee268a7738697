import { decodeUri } from '../../base/decode-uri.ts'
import { isRecord } from '../../base/record.ts'
import type { JsonSchema } from '../../tool/tool.ts'
import { listOf, typesIn } from '../form/reader.ts'
import { Exhausted, Meter } from '../meter.ts'
import { type Located, References, startsDocument } from '../references.ts'
import { propertyComment, type Use } from './comment.ts'
import { indented, lineComment, propertyName, stringLiteral } from './text.ts'
import { atom, intersection, listOfType, never, type Type, union, unknown } from './type.ts'
import type { TypeNames } from './type-names.ts'

/** Limits for writing the types of one tool. What is beyond them becomes `unknown`. */
export interface TypeBudget {
  /** Nesting of schemas. */
  readonly depth: number
  readonly characters: number
}

interface TypeContext {
  readonly names: TypeNames
  readonly use: Use
  readonly budget: TypeBudget
}

const maxMembers = 200
const maxValues = 40
const maxBranches = 40
const longestLiteral = 200
const longestLine = 80
/** A named type that is not longer than this is written where it is used. */
const longestInlined = 48

/** Writes the type of one schema. Schemas may be malicious: everything is limited by the budget. */
export class TypeWriter {
  readonly #references: References
  readonly #names: TypeNames
  readonly #use: Use
  readonly #maxDepth: number
  #left: number
  readonly #targets = new Map<unknown, { name: string | undefined; type: Type | undefined }>()

  constructor(root: unknown, { names, use, budget: { depth, characters } }: TypeContext) {
    this.#references = new References(root, new Meter({ steps: 20_000, depth: 500 }))
    this.#names = names
    this.#use = use
    this.#maxDepth = depth
    this.#left = characters
  }

  type(schema: unknown, root: unknown, depth = 0): Type {
    if (schema === false) return never
    if (!isRecord(schema)) return unknown
    // Each schema costs something, or one that is shared a billion times by references would cost nothing.
    this.#left -= 8
    if (this.#left < 0 || depth > this.#maxDepth) return unknown
    const document = startsDocument(schema) ? schema : root
    const at = { root: document, depth: depth + 1 }
    const type = intersection([
      this.#reference(schema, at),
      this.#own(schema, at),
      ...[schema.anyOf, schema.oneOf].map((branches) => this.#branches(branches, at)),
      ...listOf(schema.allOf)
        .slice(0, maxBranches)
        .map((part) => this.type(part, at.root, at.depth)),
    ])
    return schema.nullable === true ? union([type, atom('null')]) : type
  }

  #spend(text: string): string {
    this.#left -= text.length
    return text
  }

  /** A list of values, or the types with their keywords. */
  #own(schema: JsonSchema, at: Place): Type {
    if ('const' in schema) return this.#literal(schema.const)
    if (Array.isArray(schema.enum)) return this.#values(schema.enum)
    const types = schema.type === undefined ? impliedTypes(schema) : typesIn(schema.type)
    // Branches say it more precisely: `type: string` next to a list of constants.
    const isSaidByBranches = types.every((type) => type in primitives) && listOf(schema.anyOf ?? schema.oneOf).some(hasType)
    if (types.length === 0 || isSaidByBranches) return unknown
    return union(types.map((type) => this.#typed(type, schema, at)))
  }

  #typed(type: string, schema: JsonSchema, at: Place): Type {
    if (type === 'object') return this.#object(schema, at)
    if (type === 'array') return this.#array(schema, at)
    return Object.hasOwn(primitives, type) ? atom(this.#spend(primitives[type as keyof typeof primitives])) : unknown
  }

  #branches(branches: unknown, { root, depth }: Place): Type {
    if (!Array.isArray(branches) || branches.length === 0) return unknown
    if (branches.length > maxBranches) return unknown
    return union(branches.map((branch) => this.type(branch, root, depth)))
  }

  #values(values: readonly unknown[]): Type {
    if (values.length > maxValues) {
      const kinds = new Set(values.map((value) => (value === null ? 'null' : typeof value)))
      return union([...kinds].map((kind) => (kind === 'object' ? unknown : atom(this.#spend(kind)))))
    }
    return union(values.map((value) => this.#literal(value)))
  }

  #literal(value: unknown): Type {
    if (value === null || typeof value === 'boolean') return atom(this.#spend(String(value)))
    if (typeof value === 'number') return Number.isFinite(value) ? atom(this.#spend(String(value))) : atom('number')
    if (typeof value !== 'string') return unknown
    return atom(value.length > longestLiteral ? 'string' : this.#spend(stringLiteral(value)))
  }

  #array(schema: JsonSchema, { root, depth }: Place): Type {
    const items = schema.prefixItems ?? schema.items
    if (!Array.isArray(items)) return listOfType(this.type(schema.items, root, depth))
    const rest = schema.prefixItems === undefined ? schema.additionalItems : schema.items
    const { minItems, maxItems } = schema
    const required = typeof minItems === 'number' ? minItems : 0
    const members = items.slice(0, maxMembers).map((item, index) => {
      const type = this.type(item, root, depth)
      return index < required ? type.text : `${type.kind === 'atom' ? type.text : `(${type.text})`}?`
    })
    const isClosed = (rest === false || (typeof maxItems === 'number' && maxItems <= items.length)) && items.length <= maxMembers
    return atom(`[${[...members, ...(isClosed ? [] : [`...${listOfType(this.type(rest, root, depth)).text}`])].join(', ')}]`)
  }

  #object(schema: JsonSchema, at: Place): Type {
    const { additionalProperties: rest, patternProperties } = schema
    const members = this.#members(schema, at)
    const values = [
      ...(isRecord(patternProperties) ? Object.values(patternProperties).slice(0, maxBranches) : []),
      ...(rest === undefined || rest === false ? [] : [rest]),
    ]
    if (members.length === 0 && values.length === 0) return rest === false ? atom('{}') : atom('Record<string, unknown>')
    const record = (): Type => {
      const type = union(values.map((value) => this.type(value, at.root, at.depth)))
      return atom(this.#spend(`Record<string, ${type.text}>`))
    }
    return intersection([
      ...(members.length === 0 ? [] : [atom(objectText(members))]),
      ...(values.length === 0 ? [] : [record()]),
    ])
  }

  #members(schema: JsonSchema, { root, depth }: Place): readonly string[] {
    const properties = isRecord(schema.properties) ? schema.properties : {}
    const required = new Set(listOf(schema.required).slice(0, 10 * maxMembers))
    const members: string[] = []
    for (const [name, property] of Object.entries(properties).slice(0, maxMembers)) {
      if (this.#left < 0) break
      const comment = this.#spend(lineComment(propertyComment(this.#commented(property, root), this.#use)))
      const type = this.type(property, root, depth)
      members.push(`${comment}${this.#spend(propertyName(name))}${required.has(name) ? '' : '?'}: ${type.text}`)
    }
    for (const name of required) {
      if (typeof name !== 'string' || Object.hasOwn(properties, name) || members.length >= maxMembers || this.#left < 0) continue
      members.push(this.#spend(`${propertyName(name)}: unknown`))
    }
    const omitted = Object.keys(properties).length - members.length
    return omitted > 0 ? [...members, `/* ${omitted} more */\n[more: string]: unknown`] : members
  }

  /** The schema whose description a property shows: its own, or that of what it refers to. */
  #commented(property: unknown, root: unknown): unknown {
    if (!isRecord(property) || typeof property.$ref !== 'string' || property.description !== undefined) return property
    const { description } = (this.#resolve(property.$ref, root)?.schema ?? {}) as JsonSchema
    return description === undefined ? property : { ...property, description }
  }

  /** What a reference means: its type where it is short, else the name of a type. */
  #reference(schema: JsonSchema, { root, depth }: Place): Type {
    const reference = schema.$ref ?? schema.$dynamicRef
    if (typeof reference !== 'string') return unknown
    const target = this.#resolve(reference, root)
    if (target === undefined || !isRecord(target.schema)) return target?.schema === false ? never : unknown
    const wanted = decodeUri(reference.slice(reference.lastIndexOf('/') + 1)).replace(/^#$/u, 'self')
    const known = this.#targets.get(target.schema)
    if (known !== undefined) {
      if (known.type !== undefined) {
        this.#spend(known.type.text)
        return known.type
      }
      // It refers to itself, so it needs a name before its text is known.
      known.name ??= this.#names.reserve(wanted)
      return atom(this.#spend(known.name))
    }
    const made: { name: string | undefined; type: Type | undefined } = { name: undefined, type: undefined }
    this.#targets.set(target.schema, made)
    const type = this.type(target.schema, target.root, depth)
    made.type = this.#named(made.name, wanted, type)
    return made.type
  }

  #named(name: string | undefined, wanted: string, type: Type): Type {
    if (name !== undefined) {
      // `type A = A | null` is an error: a reference that leads only to itself allows any value.
      this.#names.define(
        name,
        type.text.includes('{') || type.text.includes('[') || type.text.includes('<') ? type.text : 'unknown',
      )
      return atom(name)
    }
    return type.text.length <= longestInlined ? type : atom(this.#names.shared(wanted, type.text))
  }

  #resolve(reference: string, root: unknown): Located | undefined {
    try {
      return this.#references.resolve(reference, root)
    } catch (error) {
      if (error instanceof Exhausted) return undefined
      throw error
    }
  }
}

interface Place {
  /** The document that resolves references. */
  readonly root: unknown
  readonly depth: number
}

const primitives = { string: 'string', number: 'number', integer: 'number', boolean: 'boolean', null: 'null' } as const

const hasType = (branch: unknown): boolean =>
  isRecord(branch) && ['type', 'const', 'enum', '$ref'].some((keyword) => keyword in branch)

const objectKeywords = ['properties', 'required', 'additionalProperties', 'patternProperties']
const arrayKeywords = ['items', 'prefixItems']

/** Types of a schema that only has keywords of objects or arrays. */
function impliedTypes(schema: JsonSchema): readonly string[] {
  const isObject = objectKeywords.some((keyword) => keyword in schema)
  const isArray = arrayKeywords.some((keyword) => keyword in schema)
  return isObject === isArray ? [] : [isObject ? 'object' : 'array']
}

/** An object on one line if it is short and has no comments. */
function objectText(members: readonly string[]): string {
  const line = `{ ${members.join(', ')} }`
  if (line.length <= longestLine && !line.includes('\n')) return line
  return `{${members.map((member) => indented(`\n${member}`)).join('')}\n}`
}
