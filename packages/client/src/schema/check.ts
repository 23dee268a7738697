import {
  allowedValues,
  canonicalJson,
  Exhausted,
  isRecord,
  literalText,
  Meter,
  nearest,
  nearestHint,
  type Problem,
  printable,
  References,
  startsDocument,
} from '@unfold-mcp/core'
import { type Budget, defaultBudget } from './budget.ts'
import { isEqual } from './equality.ts'
import { type Evaluated, mergeEvaluated, nothingEvaluated } from './evaluated.ts'
import { Patterns } from './pattern.ts'
import { isOfType, isType, typeLabel, valueTypeLabel } from './types.ts'

/** Problems of a value, and the parts of its schema that were not checked, with the reason. */
export interface ValidationResult {
  readonly problems: readonly Problem[]
  readonly unchecked: readonly string[]
}

/**
 * Checks a value against a JSON Schema (2020-12 and earlier drafts) and collects every problem. It runs no code from the schema
 * and is bounded: parts beyond the budget stay unchecked and are listed. `format` is an annotation, the default of the standard.
 */
export function checkValue(schema: unknown, value: unknown, budget: Budget = defaultBudget): ValidationResult {
  return new Check(schema, budget).run(value)
}

interface Location {
  readonly path: readonly string[]
  /** Document that resolves references. */
  readonly root: unknown
  readonly depth: number
  readonly problems: Problem[]
}

class Check {
  readonly #schema: unknown
  readonly #budget: Budget
  readonly #meter: Meter
  readonly #patterns: Patterns
  readonly #references: References
  readonly #unchecked = new Set<string>()
  /** Number of unchecked parts: a match that covers one is uncertain. */
  #uncheckedCount = 0
  /** Drafts before 2019-09 ignore the siblings of `$ref`. */
  readonly #ignoresRefSiblings: boolean

  constructor(schema: unknown, budget: Budget) {
    this.#schema = schema
    this.#budget = budget
    this.#meter = new Meter(budget)
    this.#patterns = new Patterns(budget.patternMs)
    this.#references = new References(schema, this.#meter)
    this.#ignoresRefSiblings = isRecord(schema) && typeof schema.$schema === 'string' && /draft-0[3-7]/u.test(schema.$schema)
  }

  run(value: unknown): ValidationResult {
    const problems: Problem[] = []
    try {
      this.#check(this.#schema, value, { path: [], root: this.#schema, depth: 0, problems })
    } catch (error) {
      if (!(error instanceof Exhausted) && !(error instanceof RangeError)) throw error
      this.#unchecked.add(error instanceof Exhausted ? error.message : 'the value or the schema is nested too deeply')
    }
    return { problems: problems.slice(0, this.#budget.problems), unchecked: [...this.#unchecked] }
  }

  /** Returns what was evaluated, or `undefined` if the value does not match; problems are added to `at`. */
  #check(schema: unknown, value: unknown, at: Location): Evaluated | undefined {
    this.#meter.enter(at.depth)
    if (schema === false) return this.#fail(at, 'is not allowed')
    if (!isRecord(schema)) return nothingEvaluated
    const isRefOnly = this.#ignoresRefSiblings && schema.$ref !== undefined
    const place: Location = { ...at, root: startsDocument(schema) && !isRefOnly ? schema : at.root }
    const problemsBefore = place.problems.length
    const uncheckedBefore = this.#uncheckedCount
    let evaluated = this.#reference(schema, value, place)
    if (isRefOnly) return place.problems.length === problemsBefore ? evaluated : undefined
    this.#type(schema, value, place)
    this.#values(schema, value, place)
    if (typeof value === 'number') this.#number(schema, value, place)
    if (typeof value === 'string') this.#string(schema, value, place)
    if (Array.isArray(value)) evaluated = mergeEvaluated(evaluated, this.#array(schema, value, place))
    if (isRecord(value)) evaluated = mergeEvaluated(evaluated, this.#object(schema, value, place))
    evaluated = mergeEvaluated(evaluated, this.#branches(schema, value, place))
    // An unchecked part may have evaluated more.
    if (this.#uncheckedCount === uncheckedBefore) evaluated = this.#unevaluated(schema, value, place, evaluated)
    return place.problems.length === problemsBefore ? evaluated : undefined
  }

  #fail(at: Location, message: string, ...below: readonly string[]): undefined {
    this.#meter.spend()
    if (at.problems.length > this.#budget.problems) return
    at.problems.push({ path: [...at.path, ...below].map((part) => printable(part)).join('.'), message })
  }

  #skip(reason: string): void {
    this.#unchecked.add(reason)
    this.#uncheckedCount++
  }

  /** Checks without reporting problems. A match is uncertain if a part was left unchecked. */
  #try(
    schema: unknown,
    value: unknown,
    at: Location,
  ): { readonly evaluated: Evaluated | undefined; readonly isCertain: boolean; readonly problems: readonly Problem[] } {
    const problems: Problem[] = []
    const before = this.#uncheckedCount
    const evaluated = this.#check(schema, value, { ...at, depth: at.depth + 1, problems })
    return { evaluated, isCertain: evaluated === undefined || this.#uncheckedCount === before, problems }
  }

  #descend(schema: unknown, value: unknown, at: Location, part?: string): Evaluated {
    const path = part === undefined ? at.path : [...at.path, part]
    return this.#check(schema, value, { ...at, path, depth: at.depth + 1 }) ?? nothingEvaluated
  }

  #reference(schema: Readonly<Record<string, unknown>>, value: unknown, at: Location): Evaluated {
    if (schema.$dynamicRef !== undefined || schema.$recursiveRef !== undefined) this.#skip('dynamic reference')
    if (typeof schema.$ref !== 'string') return nothingEvaluated
    const target = this.#references.resolve(schema.$ref, at.root)
    if (target === undefined) {
      this.#skip(`unresolved reference ${printable(schema.$ref)}`)
      return nothingEvaluated
    }
    return this.#descend(target.schema, value, { ...at, root: target.root })
  }

  #type(schema: Readonly<Record<string, unknown>>, value: unknown, at: Location): void {
    const names = listOf(schema.type)
    if (names.length === 0) return
    const known = names.filter(isType)
    if (known.length < names.length) {
      this.#skip('unknown type')
      return
    }
    if (known.some((name) => isOfType(value, name)) || (value === null && schema.nullable === true)) return
    this.#fail(at, `must be ${known.map(typeLabel).join(' or ')}, but is ${valueTypeLabel(value)}`)
  }

  #values(schema: Readonly<Record<string, unknown>>, value: unknown, at: Location): void {
    if (Object.hasOwn(schema, 'const') && !isEqual(schema.const, value, this.#meter))
      this.#fail(at, `must be ${literalText(schema.const)}`)
    const allowed = schema.enum
    if (!Array.isArray(allowed) || allowed.some((each) => isEqual(each, value, this.#meter))) return
    const texts = allowed.filter((each) => typeof each === 'string').slice(0, 1_000)
    const hint = typeof value === 'string' ? nearestHint(nearest(value, texts).map((text) => printable(text))) : ''
    this.#fail(at, `must be one of ${allowedValues(allowed)}.${hint}`.replace(/\.$/u, ''))
  }

  #number(schema: Readonly<Record<string, unknown>>, value: number, at: Location): void {
    const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below, multipleOf } = schema
    // Draft 4: booleans that modify `minimum` and `maximum`.
    if (typeof minimum === 'number' && (above === true ? value <= minimum : value < minimum))
      this.#fail(at, `must be ${above === true ? 'more than' : 'at least'} ${minimum}`)
    if (typeof maximum === 'number' && (below === true ? value >= maximum : value > maximum))
      this.#fail(at, `must be ${below === true ? 'less than' : 'at most'} ${maximum}`)
    if (typeof above === 'number' && value <= above) this.#fail(at, `must be more than ${above}`)
    if (typeof below === 'number' && value >= below) this.#fail(at, `must be less than ${below}`)
    if (typeof multipleOf === 'number' && multipleOf > 0 && !isMultiple(value, multipleOf))
      this.#fail(at, `must be a multiple of ${multipleOf}`)
  }

  #string(schema: Readonly<Record<string, unknown>>, value: string, at: Location): void {
    const { minLength, maxLength, pattern } = schema
    if (typeof minLength === 'number' || typeof maxLength === 'number') {
      this.#meter.spend(value.length / 100)
      const { length } = Array.from(value)
      if (typeof minLength === 'number' && length < minLength) this.#fail(at, `must have at least ${characters(minLength)}`)
      if (typeof maxLength === 'number' && length > maxLength) this.#fail(at, `must have at most ${characters(maxLength)}`)
    }
    if (typeof pattern === 'string' && this.#matches(pattern, value) === false)
      this.#fail(at, `must match the pattern ${printable(pattern)}`)
  }

  #matches(pattern: string, text: string): boolean | undefined {
    this.#meter.spend()
    const result = this.#patterns.test(pattern, text)
    if (typeof result === 'boolean') return result
    this.#skip(result.unchecked)
    return undefined
  }

  #array(schema: Readonly<Record<string, unknown>>, value: readonly unknown[], at: Location): Evaluated {
    const { minItems, maxItems, uniqueItems, items, contains } = schema
    if (typeof minItems === 'number' && value.length < minItems) this.#fail(at, `must have at least ${count(minItems, 'item')}`)
    if (typeof maxItems === 'number' && value.length > maxItems) this.#fail(at, `must have at most ${count(maxItems, 'item')}`)
    if (uniqueItems === true) this.#unique(value, at)
    const evaluated = new Set<number>()
    const first = Array.isArray(schema.prefixItems) ? schema.prefixItems : Array.isArray(items) ? items : []
    for (const [index, each] of first.entries()) {
      if (index >= value.length) break
      evaluated.add(index)
      this.#descend(each, value[index], at, String(index))
    }
    if (contains !== undefined) this.#contains(schema, value, at, evaluated)
    const rest = Array.isArray(items) ? schema.additionalItems : items
    if (rest === undefined) return { properties: new Set(), items: evaluated }
    for (const [index, item] of value.entries()) if (index >= first.length) this.#descend(rest, item, at, String(index))
    return { properties: new Set(), items: 'all' }
  }

  #unique(value: readonly unknown[], at: Location): void {
    const known = new Map<string, number>()
    for (const [index, item] of value.entries()) {
      this.#meter.spend()
      const text = canonicalJson(item)
      const other = known.get(text)
      if (other !== undefined) this.#fail(at, `duplicates item ${other}`, String(index))
      known.set(text, index)
    }
  }

  #contains(
    { contains, minContains = 1, maxContains }: Readonly<Record<string, unknown>>,
    value: readonly unknown[],
    at: Location,
    evaluated: Set<number>,
  ): void {
    const before = this.#uncheckedCount
    const matching = value.flatMap((item, index) => (this.#try(contains, item, at).evaluated === undefined ? [] : [index]))
    for (const index of matching) evaluated.add(index)
    const isCertain = this.#uncheckedCount === before
    if (typeof minContains === 'number' && matching.length < minContains)
      this.#fail(at, `must contain at least ${count(minContains, 'matching item')}`)
    if (typeof maxContains === 'number' && matching.length > maxContains && isCertain)
      this.#fail(at, `must contain at most ${count(maxContains, 'matching item')}`)
  }

  #object(schema: Readonly<Record<string, unknown>>, value: Readonly<Record<string, unknown>>, at: Location): Evaluated {
    const names = Object.keys(value)
    this.#meter.spend(names.length)
    this.#counts(schema, names, at)
    const declared = isRecord(schema.properties) ? schema.properties : {}
    const patterns = isRecord(schema.patternProperties) ? Object.entries(schema.patternProperties) : []
    const evaluated = new Set<string>()
    const undeclared: string[] = []
    for (const name of names) {
      const known = Object.hasOwn(declared, name)
      if (known) this.#descend(declared[name], value[name], at, name)
      let matched: boolean | undefined = false
      for (const [pattern, each] of patterns) {
        const matches = this.#matches(pattern, name)
        if (matches === true) this.#descend(each, value[name], at, name)
        // A pattern that could not be tested may match this property.
        if (matches !== false) matched = true
      }
      if (known || matched) evaluated.add(name)
      else undeclared.push(name)
    }
    this.#required(schema, value, { at, declared, undeclared })
    const dependent = this.#dependencies(schema, value, at)
    if (schema.propertyNames !== undefined)
      for (const name of names)
        if (this.#try(schema.propertyNames, name, at).evaluated === undefined)
          this.#fail(at, 'is not an allowed property name', name)
    const { additionalProperties: rest } = schema
    if (rest === undefined) return mergeEvaluated({ properties: evaluated, items: new Set() }, dependent)
    for (const name of undeclared) {
      if (rest === false) this.#failUndeclared(name, declared, at)
      else this.#descend(rest, value[name], at, name)
    }
    return { properties: 'all', items: new Set() }
  }

  #counts(
    { minProperties: min, maxProperties: max }: Readonly<Record<string, unknown>>,
    names: readonly string[],
    at: Location,
  ): void {
    if (typeof min === 'number' && names.length < min)
      this.#fail(at, `must have at least ${count(min, 'property', 'properties')}`)
    if (typeof max === 'number' && names.length > max) this.#fail(at, `must have at most ${count(max, 'property', 'properties')}`)
  }

  #required(
    { required }: Readonly<Record<string, unknown>>,
    value: Readonly<Record<string, unknown>>,
    { at, declared, undeclared }: { at: Location; declared: Readonly<Record<string, unknown>>; undeclared: readonly string[] },
  ): void {
    for (const name of listOf(required)) {
      this.#meter.spend()
      if (typeof name !== 'string' || Object.hasOwn(value, name)) continue
      const [misspelled] = nearest(
        name,
        undeclared.slice(0, 100).filter((stranger) => !Object.hasOwn(declared, stranger)),
        1,
      )
      this.#fail(at, `is required${misspelled === undefined ? '' : `; found "${printable(misspelled)}"`}`, name)
    }
  }

  #dependencies(schema: Readonly<Record<string, unknown>>, value: Readonly<Record<string, unknown>>, at: Location): Evaluated {
    let evaluated = nothingEvaluated
    for (const dependencies of [schema.dependentRequired, schema.dependentSchemas, schema.dependencies]) {
      if (!isRecord(dependencies)) continue
      for (const [name, needs] of Object.entries(dependencies)) {
        this.#meter.spend()
        if (!Object.hasOwn(value, name)) continue
        if (!Array.isArray(needs)) evaluated = mergeEvaluated(evaluated, this.#descend(needs, value, at))
        else
          for (const needed of needs)
            if (typeof needed === 'string' && !Object.hasOwn(value, needed))
              this.#fail(at, `is required when "${printable(name)}" is present`, needed)
      }
    }
    return evaluated
  }

  #failUndeclared(name: string, declared: Readonly<Record<string, unknown>>, at: Location): void {
    const names = Object.keys(declared).slice(0, 2_000)
    this.#meter.spend(names.length)
    const hint = nearestHint(nearest(name, names).map((each) => printable(each)))
    this.#fail(at, hint === '' ? 'is not a known property' : `is not a known property.${hint}`.slice(0, -1), name)
  }

  #branches(schema: Readonly<Record<string, unknown>>, value: unknown, at: Location): Evaluated {
    let evaluated = nothingEvaluated
    for (const each of listOf(schema.allOf)) evaluated = mergeEvaluated(evaluated, this.#descend(each, value, at))
    if (Array.isArray(schema.anyOf)) evaluated = mergeEvaluated(evaluated, this.#anyOf(schema.anyOf, value, at))
    if (Array.isArray(schema.oneOf)) evaluated = mergeEvaluated(evaluated, this.#oneOf(schema.oneOf, value, at))
    this.#not(schema, value, at)
    if (schema.if === undefined) return evaluated
    const { evaluated: condition, isCertain } = this.#try(schema.if, value, at)
    if (!isCertain) return evaluated
    const consequence = condition === undefined ? schema.else : schema.then
    if (condition !== undefined) evaluated = mergeEvaluated(evaluated, condition)
    return consequence === undefined ? evaluated : mergeEvaluated(evaluated, this.#descend(consequence, value, at))
  }

  #not({ not }: Readonly<Record<string, unknown>>, value: unknown, at: Location): void {
    if (not === undefined) return
    const { evaluated, isCertain } = this.#try(not, value, at)
    if (evaluated !== undefined && isCertain) this.#fail(at, 'must not match the excluded schema')
  }

  #anyOf(branches: readonly unknown[], value: unknown, at: Location): Evaluated {
    const tried = branches.map((branch) => this.#try(branch, value, at))
    const matching = tried.flatMap(({ evaluated }) => evaluated ?? [])
    if (matching.length === 0) this.#failAlternatives(tried, at)
    return matching.reduce(mergeEvaluated, nothingEvaluated)
  }

  #oneOf(branches: readonly unknown[], value: unknown, at: Location): Evaluated {
    const tried = branches.map((branch) => this.#try(branch, value, at))
    const matching = tried.flatMap(({ evaluated }) => evaluated ?? [])
    if (matching.length === 0) this.#failAlternatives(tried, at)
    if (matching.length > 1 && tried.every(({ isCertain }) => isCertain))
      this.#fail(at, `matches ${matching.length} of ${branches.length} alternatives, but must match exactly one`)
    return matching[0] ?? nothingEvaluated
  }

  /** Reports the problems of the closest alternative, or the requirements of all of them. */
  #failAlternatives(tried: readonly { readonly problems: readonly Problem[] }[], at: Location): void {
    const here = at.path.map((part) => printable(part)).join('.')
    const [best] = tried
      .map(({ problems }) => problems)
      .filter((problems) => problems.length > 0 && problems.every(({ path }) => path !== here))
      .sort((a, b) => a.length - b.length)
    if (best !== undefined) {
      at.problems.push(...best)
      return
    }
    const requirements = [
      ...new Set(tried.flatMap(({ problems }) => problems.filter(({ path }) => path === here).map(({ message }) => message))),
    ]
    this.#fail(at, requirements.length === 0 ? 'matches none of the alternatives' : joinMessages(requirements.slice(0, 5)))
  }

  #unevaluated(schema: Readonly<Record<string, unknown>>, value: unknown, at: Location, evaluated: Evaluated): Evaluated {
    if (Array.isArray(value)) return this.#unevaluatedItems(schema, value, at, evaluated)
    return isRecord(value) ? this.#unevaluatedProperties(schema, value, at, evaluated) : evaluated
  }

  #unevaluatedItems(
    schema: Readonly<Record<string, unknown>>,
    value: readonly unknown[],
    at: Location,
    evaluated: Evaluated,
  ): Evaluated {
    if (schema.unevaluatedItems === undefined || evaluated.items === 'all') return evaluated
    for (const [index, item] of value.entries())
      if (!evaluated.items.has(index)) this.#descend(schema.unevaluatedItems, item, at, String(index))
    return { ...evaluated, items: 'all' }
  }

  #unevaluatedProperties(
    schema: Readonly<Record<string, unknown>>,
    value: Readonly<Record<string, unknown>>,
    at: Location,
    evaluated: Evaluated,
  ): Evaluated {
    const { unevaluatedProperties: rest } = schema
    if (rest === undefined || evaluated.properties === 'all') return evaluated
    for (const name of Object.keys(value)) {
      if (evaluated.properties.has(name)) continue
      if (rest === false) this.#failUndeclared(name, isRecord(schema.properties) ? schema.properties : {}, at)
      else this.#descend(rest, value[name], at, name)
    }
    return { ...evaluated, properties: 'all' }
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : value === undefined ? [] : [value])

const count = (number: number, one: string, many = `${one}s`): string => `${number} ${number === 1 ? one : many}`

const characters = (number: number): string => count(number, 'character')

// Decimal fractions are inexact in binary: 0.3 / 0.1 is not an integer.
function isMultiple(value: number, divisor: number): boolean {
  const times = value / divisor
  return !Number.isFinite(times) || Math.abs(times - Math.round(times)) < 1e-9 * Math.max(1, Math.abs(times))
}

/** Merges "must be a string, but is null" and "must be an integer, but is null". */
function joinMessages(messages: readonly string[]): string {
  const split = messages.map((message) => /^must be (.+), but is (.+)$/u.exec(message))
  const actual = split[0]?.[2]
  if (actual !== undefined && split.every((match) => match?.[2] === actual))
    return `must be ${split.map((match) => match?.[1]).join(' or ')}, but is ${actual}`
  return messages.join(', or ')
}
