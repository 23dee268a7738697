import { canonicalJson, isRecord, nearest, nearestHint, type Problem, printable } from '@unfold-mcp/core'
import { type Budget, defaultBudget, Exhausted, Meter } from './budget.ts'
import { isEqual } from './equality.ts'
import { both, type Evaluated, nothing } from './evaluated.ts'
import { Patterns } from './pattern.ts'
import { References, startsDocument } from './reference.ts'
import { isOfType, isType, sayType, sayTypeOf } from './types.ts'

/** What is wrong with a value, and what of its schema was not checked, and why. */
export interface Checked {
  readonly problems: readonly Problem[]
  readonly unchecked: readonly string[]
}

/**
 * Checks a value against a JSON Schema (2020-12, and what earlier drafts write differently) and finds every problem. It runs
 * nothing that the schema contains and never takes long: what is beyond the budget is left unchecked, and named. `format` is
 * a remark, as the standard has it by default.
 */
export function checkValue(schema: unknown, value: unknown, budget: Budget = defaultBudget): Checked {
  return new Check(schema, budget).run(value)
}

interface Place {
  readonly path: readonly string[]
  /** The document that references are looked up in. */
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
  /** How often something was left unchecked: what was found over such a part may be wrong. */
  #doubts = 0
  /** Before 2019 nothing beside `$ref` counted. */
  readonly #refAlone: boolean

  constructor(schema: unknown, budget: Budget) {
    this.#schema = schema
    this.#budget = budget
    this.#meter = new Meter(budget)
    this.#patterns = new Patterns(budget.patternMs)
    this.#references = new References(schema, this.#meter)
    this.#refAlone = isRecord(schema) && typeof schema.$schema === 'string' && /draft-0[3-7]/u.test(schema.$schema)
  }

  run(value: unknown): Checked {
    const problems: Problem[] = []
    try {
      this.#check(this.#schema, value, { path: [], root: this.#schema, depth: 0, problems })
    } catch (error) {
      if (!(error instanceof Exhausted) && !(error instanceof RangeError)) throw error
      this.#unchecked.add(error instanceof Exhausted ? error.message : 'the value or the schema is nested too deep')
    }
    return { problems: problems.slice(0, this.#budget.problems), unchecked: [...this.#unchecked] }
  }

  /** Whether the value fits, and what was looked at; problems go to the place. */
  #check(schema: unknown, value: unknown, at: Place): Evaluated | undefined {
    this.#meter.enter(at.depth)
    if (schema === false) return this.#fail(at, 'is not allowed')
    if (!isRecord(schema)) return nothing
    const refAlone = this.#refAlone && schema.$ref !== undefined
    const place: Place = { ...at, root: startsDocument(schema) && !refAlone ? schema : at.root }
    const found = place.problems.length
    const doubts = this.#doubts
    let seen = this.#reference(schema, value, place)
    if (refAlone) return place.problems.length === found ? seen : undefined
    this.#type(schema, value, place)
    this.#values(schema, value, place)
    if (typeof value === 'number') this.#number(schema, value, place)
    if (typeof value === 'string') this.#string(schema, value, place)
    if (Array.isArray(value)) seen = both(seen, this.#array(schema, value, place))
    if (isRecord(value)) seen = both(seen, this.#object(schema, value, place))
    seen = both(seen, this.#branches(schema, value, place))
    // What was left unchecked may have looked at more.
    if (this.#doubts === doubts) seen = this.#unevaluated(schema, value, place, seen)
    return place.problems.length === found ? seen : undefined
  }

  #fail(at: Place, message: string, ...below: readonly string[]): undefined {
    this.#meter.spend()
    if (at.problems.length > this.#budget.problems) return
    at.problems.push({ path: [...at.path, ...below].map((part) => printable(part)).join('.'), message })
  }

  #doubt(why: string): void {
    this.#unchecked.add(why)
    this.#doubts++
  }

  /** What a schema finds, kept apart. That a value fits is not sure when something was left unchecked. */
  #aside(
    schema: unknown,
    value: unknown,
    at: Place,
  ): { readonly seen: Evaluated | undefined; readonly isSure: boolean; readonly problems: readonly Problem[] } {
    const problems: Problem[] = []
    const before = this.#doubts
    const seen = this.#check(schema, value, { ...at, depth: at.depth + 1, problems })
    return { seen, isSure: seen === undefined || this.#doubts === before, problems }
  }

  #below(schema: unknown, value: unknown, at: Place, part?: string): Evaluated {
    const path = part === undefined ? at.path : [...at.path, part]
    return this.#check(schema, value, { ...at, path, depth: at.depth + 1 }) ?? nothing
  }

  #reference(schema: Readonly<Record<string, unknown>>, value: unknown, at: Place): Evaluated {
    if (schema.$dynamicRef !== undefined || schema.$recursiveRef !== undefined) this.#doubt('a reference is dynamic')
    if (typeof schema.$ref !== 'string') return nothing
    const target = this.#references.resolve(schema.$ref, at.root)
    if (target === undefined) {
      this.#doubt(`the reference ${printable(schema.$ref)} leads nowhere here`)
      return nothing
    }
    return this.#below(target.schema, value, { ...at, root: target.root })
  }

  #type(schema: Readonly<Record<string, unknown>>, value: unknown, at: Place): void {
    const names = listOf(schema.type)
    if (names.length === 0) return
    const known = names.filter(isType)
    if (known.length < names.length) {
      this.#doubt('a type has no meaning here')
      return
    }
    if (known.some((name) => isOfType(value, name)) || (value === null && schema.nullable === true)) return
    this.#fail(at, `must be ${known.map(sayType).join(' or ')}, but is ${sayTypeOf(value)}`)
  }

  #values(schema: Readonly<Record<string, unknown>>, value: unknown, at: Place): void {
    if (Object.hasOwn(schema, 'const') && !isEqual(schema.const, value, this.#meter))
      this.#fail(at, `must be ${said(schema.const)}`)
    const allowed = schema.enum
    if (!Array.isArray(allowed) || allowed.some((each) => isEqual(each, value, this.#meter))) return
    const texts = allowed.filter((each) => typeof each === 'string').slice(0, 1_000)
    const hint = typeof value === 'string' ? nearestHint(nearest(value, texts).map((text) => printable(text))) : ''
    const listed = allowed.slice(0, 20).map(said).join(', ')
    this.#fail(
      at,
      `must be one of ${listed}${allowed.length > 20 ? `, … (${allowed.length} in all)` : ''}.${hint}`.replace(/\.$/u, ''),
    )
  }

  #number(schema: Readonly<Record<string, unknown>>, value: number, at: Place): void {
    const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below, multipleOf } = schema
    // In the fourth draft these were switches beside `minimum` and `maximum`.
    if (typeof minimum === 'number' && (above === true ? value <= minimum : value < minimum))
      this.#fail(at, `must be ${above === true ? 'more than' : 'at least'} ${minimum}`)
    if (typeof maximum === 'number' && (below === true ? value >= maximum : value > maximum))
      this.#fail(at, `must be ${below === true ? 'less than' : 'at most'} ${maximum}`)
    if (typeof above === 'number' && value <= above) this.#fail(at, `must be more than ${above}`)
    if (typeof below === 'number' && value >= below) this.#fail(at, `must be less than ${below}`)
    if (typeof multipleOf === 'number' && multipleOf > 0 && !isMultiple(value, multipleOf))
      this.#fail(at, `must be a multiple of ${multipleOf}`)
  }

  #string(schema: Readonly<Record<string, unknown>>, value: string, at: Place): void {
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
    this.#doubt(result.unchecked)
    return undefined
  }

  #array(schema: Readonly<Record<string, unknown>>, value: readonly unknown[], at: Place): Evaluated {
    const { minItems, maxItems, uniqueItems, items, contains } = schema
    if (typeof minItems === 'number' && value.length < minItems) this.#fail(at, `must have at least ${count(minItems, 'item')}`)
    if (typeof maxItems === 'number' && value.length > maxItems) this.#fail(at, `must have at most ${count(maxItems, 'item')}`)
    if (uniqueItems === true) this.#unique(value, at)
    const looked = new Set<number>()
    const first = Array.isArray(schema.prefixItems) ? schema.prefixItems : Array.isArray(items) ? items : []
    for (const [index, each] of first.entries()) {
      if (index >= value.length) break
      looked.add(index)
      this.#below(each, value[index], at, String(index))
    }
    if (contains !== undefined) this.#contains(schema, value, at, looked)
    const rest = Array.isArray(items) ? schema.additionalItems : items
    if (rest === undefined) return { properties: new Set(), items: looked }
    for (const [index, item] of value.entries()) if (index >= first.length) this.#below(rest, item, at, String(index))
    return { properties: new Set(), items: 'all' }
  }

  #unique(value: readonly unknown[], at: Place): void {
    const known = new Map<string, number>()
    for (const [index, item] of value.entries()) {
      this.#meter.spend()
      const text = canonicalJson(item)
      const other = known.get(text)
      if (other !== undefined) this.#fail(at, `is the same as item ${other}, and each may be there once`, String(index))
      known.set(text, index)
    }
  }

  #contains(
    { contains, minContains = 1, maxContains }: Readonly<Record<string, unknown>>,
    value: readonly unknown[],
    at: Place,
    looked: Set<number>,
  ): void {
    const before = this.#doubts
    const matching = value.flatMap((item, index) => (this.#aside(contains, item, at).seen === undefined ? [] : [index]))
    for (const index of matching) looked.add(index)
    const isSure = this.#doubts === before
    if (typeof minContains === 'number' && matching.length < minContains)
      this.#fail(at, `must contain at least ${count(minContains, 'item')} of a kind that is missing`)
    if (typeof maxContains === 'number' && matching.length > maxContains && isSure)
      this.#fail(at, `may contain at most ${count(maxContains, 'item')} of one kind`)
  }

  #object(schema: Readonly<Record<string, unknown>>, value: Readonly<Record<string, unknown>>, at: Place): Evaluated {
    const names = Object.keys(value)
    this.#meter.spend(names.length)
    this.#counts(schema, names, at)
    const declared = isRecord(schema.properties) ? schema.properties : {}
    const patterns = isRecord(schema.patternProperties) ? Object.entries(schema.patternProperties) : []
    const looked = new Set<string>()
    const strangers: string[] = []
    for (const name of names) {
      const known = Object.hasOwn(declared, name)
      if (known) this.#below(declared[name], value[name], at, name)
      let matched: boolean | undefined = false
      for (const [pattern, each] of patterns) {
        const matches = this.#matches(pattern, name)
        if (matches === true) this.#below(each, value[name], at, name)
        // A pattern that could not be tried may have been the one for this property.
        if (matches !== false) matched = true
      }
      if (known || matched) looked.add(name)
      else strangers.push(name)
    }
    this.#required(schema, value, { at, declared, strangers })
    const dependent = this.#dependencies(schema, value, at)
    if (schema.propertyNames !== undefined)
      for (const name of names)
        if (this.#aside(schema.propertyNames, name, at).seen === undefined)
          this.#fail(at, 'is not a name that is allowed here', name)
    const { additionalProperties: rest } = schema
    if (rest === undefined) return both({ properties: looked, items: new Set() }, dependent)
    for (const name of strangers) {
      if (rest === false) this.#stranger(name, declared, at)
      else this.#below(rest, value[name], at, name)
    }
    return { properties: 'all', items: new Set() }
  }

  #counts(
    { minProperties: min, maxProperties: max }: Readonly<Record<string, unknown>>,
    names: readonly string[],
    at: Place,
  ): void {
    if (typeof min === 'number' && names.length < min)
      this.#fail(at, `must have at least ${count(min, 'property', 'properties')}`)
    if (typeof max === 'number' && names.length > max) this.#fail(at, `must have at most ${count(max, 'property', 'properties')}`)
  }

  #required(
    { required }: Readonly<Record<string, unknown>>,
    value: Readonly<Record<string, unknown>>,
    { at, declared, strangers }: { at: Place; declared: Readonly<Record<string, unknown>>; strangers: readonly string[] },
  ): void {
    for (const name of listOf(required)) {
      this.#meter.spend()
      if (typeof name !== 'string' || Object.hasOwn(value, name)) continue
      const [meant] = nearest(
        name,
        strangers.slice(0, 100).filter((stranger) => !Object.hasOwn(declared, stranger)),
        1,
      )
      this.#fail(at, `is required${meant === undefined ? '' : `; "${printable(meant)}" was given`}`, name)
    }
  }

  #dependencies(schema: Readonly<Record<string, unknown>>, value: Readonly<Record<string, unknown>>, at: Place): Evaluated {
    let seen = nothing
    for (const dependencies of [schema.dependentRequired, schema.dependentSchemas, schema.dependencies]) {
      if (!isRecord(dependencies)) continue
      for (const [name, needs] of Object.entries(dependencies)) {
        this.#meter.spend()
        if (!Object.hasOwn(value, name)) continue
        if (!Array.isArray(needs)) seen = both(seen, this.#below(needs, value, at))
        else
          for (const needed of needs)
            if (typeof needed === 'string' && !Object.hasOwn(value, needed))
              this.#fail(at, `is required beside "${printable(name)}"`, needed)
      }
    }
    return seen
  }

  #stranger(name: string, declared: Readonly<Record<string, unknown>>, at: Place): void {
    const names = Object.keys(declared).slice(0, 2_000)
    this.#meter.spend(names.length)
    const hint = nearestHint(nearest(name, names).map((each) => printable(each)))
    this.#fail(at, hint === '' ? 'is not known here' : `is not known here.${hint}`.slice(0, -1), name)
  }

  #branches(schema: Readonly<Record<string, unknown>>, value: unknown, at: Place): Evaluated {
    let seen = nothing
    for (const each of listOf(schema.allOf)) seen = both(seen, this.#below(each, value, at))
    if (Array.isArray(schema.anyOf)) seen = both(seen, this.#anyOf(schema.anyOf, value, at))
    if (Array.isArray(schema.oneOf)) seen = both(seen, this.#oneOf(schema.oneOf, value, at))
    this.#not(schema, value, at)
    if (schema.if === undefined) return seen
    const { seen: condition, isSure } = this.#aside(schema.if, value, at)
    if (!isSure) return seen
    const consequence = condition === undefined ? schema.else : schema.then
    if (condition !== undefined) seen = both(seen, condition)
    return consequence === undefined ? seen : both(seen, this.#below(consequence, value, at))
  }

  #not({ not }: Readonly<Record<string, unknown>>, value: unknown, at: Place): void {
    if (not === undefined) return
    const { seen, isSure } = this.#aside(not, value, at)
    if (seen !== undefined && isSure) this.#fail(at, 'must not be of a kind that is excluded here')
  }

  #anyOf(branches: readonly unknown[], value: unknown, at: Place): Evaluated {
    const tried = branches.map((branch) => this.#aside(branch, value, at))
    const fitting = tried.flatMap(({ seen }) => seen ?? [])
    if (fitting.length === 0) this.#none(tried, at)
    return fitting.reduce(both, nothing)
  }

  #oneOf(branches: readonly unknown[], value: unknown, at: Place): Evaluated {
    const tried = branches.map((branch) => this.#aside(branch, value, at))
    const fitting = tried.flatMap(({ seen }) => seen ?? [])
    if (fitting.length === 0) this.#none(tried, at)
    if (fitting.length > 1 && tried.every(({ isSure }) => isSure))
      this.#fail(at, `fits ${fitting.length} of ${branches.length} alternatives, and must fit one`)
    return fitting[0] ?? nothing
  }

  /** Says why none of several alternatives fits: what the nearest one lacks, or what all of them want. */
  #none(tried: readonly { readonly problems: readonly Problem[] }[], at: Place): void {
    const here = at.path.map((part) => printable(part)).join('.')
    const [best] = tried
      .map(({ problems }) => problems)
      .filter((problems) => problems.length > 0 && problems.every(({ path }) => path !== here))
      .sort((a, b) => a.length - b.length)
    if (best !== undefined) {
      at.problems.push(...best)
      return
    }
    const wanted = [
      ...new Set(tried.flatMap(({ problems }) => problems.filter(({ path }) => path === here).map(({ message }) => message))),
    ]
    this.#fail(at, wanted.length === 0 ? 'fits none of the alternatives' : joined(wanted.slice(0, 5)))
  }

  #unevaluated(schema: Readonly<Record<string, unknown>>, value: unknown, at: Place, seen: Evaluated): Evaluated {
    if (Array.isArray(value)) return this.#unevaluatedItems(schema, value, at, seen)
    return isRecord(value) ? this.#unevaluatedProperties(schema, value, at, seen) : seen
  }

  #unevaluatedItems(schema: Readonly<Record<string, unknown>>, value: readonly unknown[], at: Place, seen: Evaluated): Evaluated {
    if (schema.unevaluatedItems === undefined || seen.items === 'all') return seen
    for (const [index, item] of value.entries())
      if (!seen.items.has(index)) this.#below(schema.unevaluatedItems, item, at, String(index))
    return { ...seen, items: 'all' }
  }

  #unevaluatedProperties(
    schema: Readonly<Record<string, unknown>>,
    value: Readonly<Record<string, unknown>>,
    at: Place,
    seen: Evaluated,
  ): Evaluated {
    const { unevaluatedProperties: rest } = schema
    if (rest === undefined || seen.properties === 'all') return seen
    for (const name of Object.keys(value)) {
      if (seen.properties.has(name)) continue
      if (rest === false) this.#stranger(name, isRecord(schema.properties) ? schema.properties : {}, at)
      else this.#below(rest, value[name], at, name)
    }
    return { ...seen, properties: 'all' }
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : value === undefined ? [] : [value])

const said = (value: unknown): string => printable(JSON.stringify(value) ?? 'nothing', 80)

const count = (number: number, one: string, many = `${one}s`): string => `${number} ${number === 1 ? one : many}`

const characters = (number: number): string => count(number, 'character')

// Decimal fractions are not exact in binary: 0.3 is a multiple of 0.1 to everybody but the machine.
function isMultiple(value: number, of: number): boolean {
  const times = value / of
  return !Number.isFinite(times) || Math.abs(times - Math.round(times)) < 1e-9 * Math.max(1, Math.abs(times))
}

/** "must be a string, but is null" and "must be an integer, but is null" become one sentence. */
function joined(messages: readonly string[]): string {
  const split = messages.map((message) => /^must be (.+), but is (.+)$/u.exec(message))
  const found = split[0]?.[2]
  if (found !== undefined && split.every((match) => match?.[2] === found))
    return `must be ${split.map((match) => match?.[1]).join(' or ')}, but is ${found}`
  return messages.join(', or ')
}
