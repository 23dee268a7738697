import { type Budget, validateArguments } from '@unfold-mcp/client'
import { printable, type Tool, type ToolAnnotations } from '@unfold-mcp/core'
import type { Client } from '../access/access.ts'
import { absolutePath } from '../base/absolute-path.ts'
import { listOf, type PolicyRule } from '../config/policy/schema.ts'
import { matcher } from '../names/pattern.ts'
import { argumentValues } from './argument-values.ts'
import { hostOf } from './host.ts'
import { hostList } from './host-list.ts'
import { allOf, type Evaluation, type Outcome, opposite } from './outcome.ts'
import { isInside } from './path-condition.ts'

/** A tool and who calls it. */
export interface Subject {
  readonly server: string
  /** Name of the tool on the server. */
  readonly tool: string
  /** `undefined` if the tool is unknown. */
  readonly definition: () => Pick<Tool, 'annotations'> | undefined
  readonly client: Pick<Client, 'token' | 'profile'> | undefined
}

/** A call as far as a policy decides on it. */
export interface SubjectCall extends Subject {
  readonly input: Readonly<Record<string, unknown>>
}

/** A condition on tool and caller. */
export interface Condition {
  readonly name: keyof PolicyRule
  evaluate(subject: Subject): Evaluation
}

/** A condition on arguments. */
export interface ArgumentCondition {
  readonly name: keyof PolicyRule
  evaluate(call: SubjectCall): Evaluation | Promise<Evaluation>
}

/** Returns the conditions of a rule on tool and caller. */
export function subjectConditions(rule: PolicyRule): readonly Condition[] {
  return [
    ...named('server', rule, ({ server }) => server),
    ...named('tool', rule, ({ tool }) => tool),
    ...exact('profile', rule, ({ client }) => client?.profile),
    ...exact('token', rule, ({ client }) => client?.token),
    ...annotated(rule),
  ]
}

/** Returns the conditions of a rule on arguments. `folder`: base of relative folders. */
export function argumentConditions(rule: PolicyRule, folder: string): readonly ArgumentCondition[] {
  return [...matching(rule), ...atPath(rule, folder), ...atHost(rule)]
}

const yesIf = (holds: boolean): Outcome => (holds ? 'yes' : 'no')

function named(name: 'server' | 'tool', rule: PolicyRule, read: (subject: Subject) => string): readonly Condition[] {
  if (rule[name] === undefined) return []
  const matches = matcher(listOf(rule[name]))
  const evaluate = (subject: Subject): Evaluation => {
    const value = read(subject)
    return { outcome: yesIf(matches(value)), detail: printable(value) }
  }
  return [{ name, evaluate }]
}

function exact(
  name: 'profile' | 'token',
  rule: PolicyRule,
  read: (subject: Subject) => string | undefined,
): readonly Condition[] {
  const names = listOf(rule[name])
  if (rule[name] === undefined) return []
  const evaluate = (subject: Subject): Evaluation => {
    const value = read(subject)
    return {
      outcome: yesIf(value !== undefined && names.includes(value)),
      detail: value === undefined ? 'none' : printable(value),
    }
  }
  return [{ name, evaluate }]
}

type Hints = NonNullable<PolicyRule['annotations']>

/** Hints with the defaults of the protocol. A tool that claims to be both read-only and destructive is destructive. */
function hintsOf({ readOnlyHint, destructiveHint, idempotentHint, openWorldHint }: ToolAnnotations): Required<Hints> {
  const readOnly = readOnlyHint === true && destructiveHint !== true
  return {
    readOnly,
    destructive: !readOnly && destructiveHint !== false,
    idempotent: idempotentHint === true,
    openWorld: openWorldHint !== false,
  }
}

function annotated({ annotations }: PolicyRule): readonly Condition[] {
  if (annotations === undefined) return []
  const wanted = Object.entries(annotations) as [keyof Hints, boolean | undefined][]
  const evaluate = ({ definition }: Subject): Evaluation => {
    const known = definition()
    if (known === undefined) return { outcome: 'unknown', detail: 'the definition of the tool is not known' }
    const hints = hintsOf(known.annotations ?? {})
    return {
      outcome: yesIf(wanted.every(([hint, value]) => value === undefined || hints[hint] === value)),
      detail: wanted.map(([hint]) => `${hint}: ${hints[hint]}`).join(', '),
    }
  }
  return [{ name: 'annotations', evaluate }]
}

// Smaller than for a client: the gateway handles no other call meanwhile.
const budget: Budget = { steps: 50_000, depth: 100, problems: 10, patternMs: 200 }

function matching({ arguments: schema }: PolicyRule): readonly ArgumentCondition[] {
  if (schema === undefined) return []
  // The validator takes the schema of a tool, which is always an object.
  const inputSchema = { type: 'object', allOf: [schema] } as const
  const evaluate = ({ input }: SubjectCall): Evaluation => {
    const { problems, unchecked } = validateArguments({ name: '', inputSchema }, input, budget)
    const [problem] = problems
    if (problem !== undefined) return { outcome: 'no', detail: `${problem.path} ${problem.message}`.trim() }
    const [reason] = unchecked
    return reason === undefined ? { outcome: 'yes', detail: 'they match the schema' } : { outcome: 'unknown', detail: reason }
  }
  return [{ name: 'arguments', evaluate }]
}

type Check = (value: string) => Outcome | Promise<Outcome>

/** A condition that all texts in the named arguments must satisfy. */
function onValues(name: 'path' | 'host', argument: string | readonly string[], check: Check): readonly ArgumentCondition[] {
  const names = listOf(argument)
  const evaluate = async ({ input }: SubjectCall): Promise<Evaluation> => {
    const values = argumentValues(input, names)
    if (values === undefined) return { outcome: 'unknown', detail: `${names.join(', ')}: missing, or not a text` }
    const outcomes: Outcome[] = []
    for (const value of values) outcomes.push(await check(value))
    const details = values.map((value, at) => `${printable(value, 200)}: ${outcomes[at]}`)
    return { outcome: allOf(outcomes), detail: details.join(', ') }
  }
  return [{ name, evaluate }]
}

function atPath({ path }: PolicyRule, folder: string): readonly ArgumentCondition[] {
  if (path === undefined) return []
  const { argument, inside, outside, relativeTo } = path
  const folders = (inside ?? outside ?? []).map((each) => absolutePath(folder, each))
  const base = relativeTo === undefined ? undefined : absolutePath(folder, relativeTo)
  return onValues('path', argument, async (value) => {
    const outcome = await isInside(value, { folders, base })
    return inside === undefined ? opposite(outcome) : outcome
  })
}

function atHost({ host }: PolicyRule): readonly ArgumentCondition[] {
  if (host === undefined) return []
  const isListed = hostList(host.in ?? host.notIn ?? [])
  return onValues('host', host.argument, (value) => {
    const parsed = hostOf(value)
    return parsed === undefined ? 'unknown' : yesIf(isListed(parsed) === (host.in !== undefined))
  })
}
