import type { JsonSchema } from '@unfold-mcp/core'
import { isRecord } from '@unfold-mcp/core'
import { visibleJson } from '../arguments/name.ts'

/** Schemas are untrusted; anything beyond these limits becomes `unknown`. */
const maxSteps = 5_000
const maxDepth = 12
const maxChoices = 200
const maxDescriptionLength = 400

/** TypeScript type of a schema; always compiles. */
export function typeText(schema: JsonSchema, indent = ''): string {
  return new TypeWriter(schema).text(schema, indent, 0)
}

/** Comment that cannot be terminated early by its text. */
export function commentText(text: string | undefined, indent: string): string {
  const plain = (text ?? '')
    .slice(0, maxDescriptionLength)
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll('*/', '* /')
    .trim()
  return plain === '' ? '' : `${indent}/** ${plain} */\n`
}

class TypeWriter {
  readonly #root: JsonSchema
  readonly #open = new Set<unknown>()
  #left = maxSteps

  constructor(root: JsonSchema) {
    this.#root = root
  }

  text(schema: unknown, indent: string, depth: number): string {
    if (schema === false) return 'never'
    if (!isRecord(schema) || depth > maxDepth || this.#left-- <= 0 || this.#open.has(schema)) return 'unknown'
    this.#open.add(schema)
    const text = this.#type(schema, indent, depth)
    this.#open.delete(schema)
    return schema.nullable === true ? either([text, 'null']) : text
  }

  #type(schema: JsonSchema, indent: string, depth: number): string {
    if (typeof schema.$ref === 'string') return this.text(this.#target(schema.$ref), indent, depth + 1)
    if ('const' in schema) return literal(schema.const)
    if (Array.isArray(schema.enum)) return schema.enum.length > maxChoices ? 'unknown' : either(schema.enum.map(literal))
    const branches = [schema.anyOf, schema.oneOf].find((list) => Array.isArray(list) && list.length > 0)
    const own = this.#typed(schema, indent, depth)
    const parts = [
      ...(own === 'unknown' ? [] : [own]),
      ...(Array.isArray(branches)
        ? [either(branches.slice(0, maxChoices).map((branch) => this.text(branch, indent, depth + 1)))]
        : []),
      ...(Array.isArray(schema.allOf) ? schema.allOf.slice(0, maxChoices).map((part) => this.text(part, indent, depth + 1)) : []),
    ].filter((part) => part !== 'unknown')
    return parts.length === 0
      ? 'unknown'
      : parts.length === 1
        ? (parts[0] ?? 'unknown')
        : parts.map((part) => `(${part})`).join(' & ')
  }

  #typed(schema: JsonSchema, indent: string, depth: number): string {
    const { type } = schema
    if (Array.isArray(type)) return either(type.map((each: unknown) => this.#ofType(each, schema, indent, depth)))
    return this.#ofType(type ?? (isRecord(schema.properties) ? 'object' : undefined), schema, indent, depth)
  }

  #ofType(type: unknown, schema: JsonSchema, indent: string, depth: number): string {
    switch (type) {
      case 'string':
      case 'boolean':
      case 'null':
        return type
      case 'number':
      case 'integer':
        return 'number'
      case 'array':
        return this.#list(schema, indent, depth)
      case 'object':
        return this.#object(schema, indent, depth)
      default:
        return 'unknown'
    }
  }

  #list({ items, prefixItems }: JsonSchema, indent: string, depth: number): string {
    if (Array.isArray(prefixItems) || items === undefined || Array.isArray(items)) return 'readonly unknown[]'
    return `readonly (${this.text(items, indent, depth + 1)})[]`
  }

  #object({ properties, required, additionalProperties }: JsonSchema, indent: string, depth: number): string {
    const names = isRecord(properties) ? Object.keys(properties) : []
    const inner = `${indent}  `
    if (names.length === 0 || names.length > this.#left) {
      const value = isRecord(additionalProperties) ? this.text(additionalProperties, inner, depth + 1) : 'unknown'
      return additionalProperties === false && names.length === 0
        ? 'Record<string, never>'
        : `{ readonly [name: string]: ${value} }`
    }
    const requiredNames = new Set<unknown>(Array.isArray(required) ? required : [])
    const lines = names.map((name) => {
      const schema: unknown = isRecord(properties) ? properties[name] : undefined
      const description = isRecord(schema) && typeof schema.description === 'string' ? schema.description : undefined
      const mark = requiredNames.has(name) ? '' : '?'
      return `${commentText(description, inner)}${inner}readonly ${propertyName(name)}${mark}: ${this.text(schema, inner, depth + 1)}`
    })
    // Additional properties are omitted: an index signature would weaken the known ones.
    return `{\n${lines.join('\n')}\n${indent}}`
  }

  #target(reference: string): unknown {
    if (reference === '#') return this.#root
    if (!reference.startsWith('#/')) return undefined
    let value: unknown = this.#root
    for (const step of reference.slice(2).split('/')) {
      const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
      if (!isRecord(value) || !Object.hasOwn(value, key)) return undefined
      value = value[key]
    }
    return value
  }
}

const either = (texts: readonly string[]): string => {
  const distinct = [...new Set(texts)]
  if (distinct.length === 0) return 'never'
  return distinct.includes('unknown') ? 'unknown' : distinct.join(' | ')
}

const literal = (value: unknown): string =>
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  value === null ||
  (typeof value === 'number' && Number.isFinite(value))
    ? visibleJson(value)
    : 'unknown'

const propertyName = (name: string): string =>
  /^[A-Za-z_$][\w$]*$/u.test(name) && name !== '__proto__' ? name : visibleJson(name)
