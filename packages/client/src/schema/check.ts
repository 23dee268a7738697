import { Exhausted, isRecord, Meter, type Problem, printable, References, startsDocument } from '@unfold-mcp/core'
import { type Budget, defaultBudget } from './budget.ts'
import { type Evaluated, mergeEvaluated, nothingEvaluated } from './evaluated.ts'
import { checkAlternatives } from './keywords/alternatives.ts'
import { checkArray, checkUnevaluatedItems } from './keywords/array.ts'
import { checkObject, checkUnevaluatedProperties } from './keywords/object.ts'
import { checkAnyValue, checkNumber, checkString } from './keywords/value.ts'
import { Patterns } from './pattern.ts'

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

export type SchemaObject = Readonly<Record<string, unknown>>

/** Place of a value and of the schema that it is checked against. */
export interface Location {
  readonly path: readonly string[]
  /** Document that resolves references. */
  readonly root: unknown
  readonly depth: number
  readonly problems: Problem[]
}

/** Outcome of a check that does not report problems. */
export interface Attempt {
  /** `undefined` if the value does not match. */
  readonly evaluated: Evaluated | undefined
  /** False for a match of which a part was left unchecked. */
  readonly isCertain: boolean
  readonly problems: readonly Problem[]
}

/** Check of one value: which keywords apply, within the budget. The files in `keywords/` check them. */
export class Check {
  readonly meter: Meter
  readonly #schema: unknown
  readonly #budget: Budget
  readonly #patterns: Patterns
  readonly #references: References
  readonly #unchecked = new Set<string>()
  /** Number of unchecked parts: a match that covers one is uncertain. */
  uncheckedCount = 0
  /** Drafts before 2019-09 ignore the siblings of `$ref`. */
  readonly #ignoresRefSiblings: boolean

  constructor(schema: unknown, budget: Budget) {
    this.#schema = schema
    this.#budget = budget
    this.meter = new Meter(budget)
    this.#patterns = new Patterns(budget.patternMs)
    this.#references = new References(schema, this.meter)
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
    this.meter.enter(at.depth)
    if (schema === false) return this.fail(at, 'is not allowed')
    if (!isRecord(schema)) return nothingEvaluated
    const isRefOnly = this.#ignoresRefSiblings && schema.$ref !== undefined
    const place: Location = { ...at, root: startsDocument(schema) && !isRefOnly ? schema : at.root }
    const problemsBefore = place.problems.length
    const uncheckedBefore = this.uncheckedCount
    let evaluated = this.#reference(schema, value, place)
    if (isRefOnly) return place.problems.length === problemsBefore ? evaluated : undefined
    checkAnyValue(this, schema, value, place)
    if (typeof value === 'number') checkNumber(this, schema, value, place)
    if (typeof value === 'string') checkString(this, schema, value, place)
    if (Array.isArray(value)) evaluated = mergeEvaluated(evaluated, checkArray(this, schema, value, place))
    if (isRecord(value)) evaluated = mergeEvaluated(evaluated, checkObject(this, schema, value, place))
    evaluated = mergeEvaluated(evaluated, checkAlternatives(this, schema, value, place))
    // An unchecked part may have evaluated more.
    if (this.uncheckedCount === uncheckedBefore) {
      if (Array.isArray(value)) evaluated = checkUnevaluatedItems(this, schema, value, place, evaluated)
      else if (isRecord(value)) evaluated = checkUnevaluatedProperties(this, schema, value, place, evaluated)
    }
    return place.problems.length === problemsBefore ? evaluated : undefined
  }

  /** Reports a problem. */
  fail(at: Location, message: string, ...below: readonly string[]): undefined {
    this.meter.spend()
    if (at.problems.length > this.#budget.problems) return
    at.problems.push({ path: [...at.path, ...below].map((part) => printable(part)).join('.'), message })
  }

  /** Records a part of the schema that cannot be checked. */
  skip(reason: string): void {
    this.#unchecked.add(reason)
    this.uncheckedCount++
  }

  /** Checks without reporting problems. */
  attempt(schema: unknown, value: unknown, at: Location): Attempt {
    const problems: Problem[] = []
    const before = this.uncheckedCount
    const evaluated = this.#check(schema, value, { ...at, depth: at.depth + 1, problems })
    return { evaluated, isCertain: evaluated === undefined || this.uncheckedCount === before, problems }
  }

  /** Checks a part of the value, or the value itself, against another schema. */
  descend(schema: unknown, value: unknown, at: Location, part?: string): Evaluated {
    const path = part === undefined ? at.path : [...at.path, part]
    return this.#check(schema, value, { ...at, path, depth: at.depth + 1 }) ?? nothingEvaluated
  }

  /** Returns whether a text matches; `undefined` if the pattern cannot be tested. */
  matches(pattern: string, text: string): boolean | undefined {
    this.meter.spend()
    const result = this.#patterns.test(pattern, text)
    if (typeof result === 'boolean') return result
    this.skip(result.unchecked)
    return undefined
  }

  #reference(schema: SchemaObject, value: unknown, at: Location): Evaluated {
    if (schema.$dynamicRef !== undefined || schema.$recursiveRef !== undefined) this.skip('dynamic reference')
    if (typeof schema.$ref !== 'string') return nothingEvaluated
    const target = this.#references.resolve(schema.$ref, at.root)
    if (target === undefined) {
      this.skip(`unresolved reference ${printable(schema.$ref)}`)
      return nothingEvaluated
    }
    return this.descend(target.schema, value, { ...at, root: target.root })
  }
}
