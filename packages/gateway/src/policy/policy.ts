import type { PolicyRule } from '../config/policy/schema.ts'
import type { Config } from '../config/schema.ts'
import {
  type ArgumentCondition,
  argumentConditions,
  type Condition,
  type Subject,
  type SubjectCall,
  subjectConditions,
} from './conditions.ts'
import type { Evaluation, Outcome } from './outcome.ts'
import type { Effect, Verdict } from './verdict.ts'

/** How one condition of a rule was evaluated. */
export interface ExplainedCondition extends Evaluation {
  /** Key in the rule, such as `path`. */
  readonly condition: string
}

/** How one rule was evaluated. */
export interface ExplainedRule {
  /** Such as `policy.rules[2]`. */
  readonly rule: string
  readonly effect: Effect
  /** The first rule that applies decides. */
  readonly applies: boolean
  readonly conditions: readonly ExplainedCondition[]
}

/** A verdict with the rules up to the one that decided. */
export interface Explanation {
  readonly verdict: Verdict
  readonly rules: readonly ExplainedRule[]
  /** False if the tool is not listed, because it is denied with any arguments. */
  readonly isListed: boolean
}

interface Rule {
  readonly name: string
  readonly effect: Effect
  readonly reason: string | undefined
  readonly subject: readonly Condition[]
  readonly arguments: readonly ArgumentCondition[]
}

/** The rules of a configuration, in their order. */
export class Policy {
  readonly #rules: readonly Rule[]
  readonly #default: Effect

  /** `folder`: base of relative folders in the rules. */
  constructor(config: Pick<NonNullable<Config['policy']>, 'default' | 'rules'>, folder: string) {
    this.#default = config.default
    this.#rules = config.rules.map((rule, index) => compiled(rule, index, folder))
  }

  /** Decides on a call. */
  async decide(call: SubjectCall): Promise<Verdict> {
    for (const rule of this.#rules) if (await applies(rule, call)) return verdictOf(rule)
    return this.#defaultVerdict
  }

  /** Decides on a call, and explains each rule up to the one that decided. */
  async explain(call: SubjectCall): Promise<Explanation> {
    const rules: ExplainedRule[] = []
    const isListed = !this.denies(call)
    for (const rule of this.#rules) {
      const conditions: ExplainedCondition[] = []
      for (const condition of [...rule.subject, ...rule.arguments])
        conditions.push({ condition: condition.name, ...(await condition.evaluate(call)) })
      const isDeciding = conditions.every(({ outcome }) => isMet(rule, outcome))
      rules.push({ rule: rule.name, effect: rule.effect, applies: isDeciding, conditions })
      if (isDeciding) return { verdict: verdictOf(rule), rules, isListed }
    }
    return { verdict: this.#defaultVerdict, rules, isListed }
  }

  /** True if a tool is denied with any arguments. */
  denies(subject: Subject): boolean {
    for (const rule of this.#rules) {
      if (!rule.subject.every((each) => isMet(rule, each.evaluate(subject).outcome))) continue
      if (rule.arguments.length === 0) return rule.effect === 'deny'
      if (rule.effect !== 'deny') return false
    }
    return this.#default === 'deny'
  }

  get #defaultVerdict(): Verdict {
    return { effect: this.#default, rule: undefined, reason: undefined }
  }
}

function compiled(rule: PolicyRule, index: number, folder: string): Rule {
  return {
    name: `policy.rules[${index}]`,
    effect: rule.effect,
    reason: rule.reason,
    subject: subjectConditions(rule),
    arguments: argumentConditions(rule, folder),
  }
}

const verdictOf = ({ effect, name, reason }: Rule): Verdict => ({ effect, rule: name, reason })

async function applies(rule: Rule, call: SubjectCall): Promise<boolean> {
  for (const condition of rule.subject) if (!isMet(rule, condition.evaluate(call).outcome)) return false
  for (const condition of rule.arguments) if (!isMet(rule, (await condition.evaluate(call)).outcome)) return false
  return true
}

/** What cannot be determined permits nothing: it satisfies the conditions of rules that deny or ask, and not of those that allow. */
const isMet = ({ effect }: Rule, outcome: Outcome): boolean => outcome === 'yes' || (outcome === 'unknown' && effect !== 'allow')
