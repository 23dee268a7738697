import { counted, isRecord, printable, printableText } from '@unfold-mcp/core'
import type { ElicitParams } from '@unfold-mcp/server'
import type { ApprovalDecision } from './approval.ts'

/** One argument of a call, for display. */
export interface ShownArgument {
  readonly name: string
  /** Its JSON, escaped, without known secrets and truncated. */
  readonly value: string
  /** Length of the JSON in characters. */
  readonly length: number
}

/** What a person decides about. */
export interface CallQuestion {
  readonly caller: string
  /** Name that the client gives itself. */
  readonly agent?: string | undefined
  readonly server: string
  /** Name of the tool on the server. */
  readonly tool: string
  readonly arguments: readonly ShownArgument[]
  /** The rule that asks; absent for the default of the policy. */
  readonly rule?: string | undefined
  readonly reason?: string | undefined
  readonly definitionDigest: string
  readonly argumentsDigest: string
  readonly policyDigest: string
  /** Milliseconds since 1970. */
  readonly askedAt: number
}

const maxArguments = 50
const maxStoredLength = 2_000
const maxAskedLength = 300

/** Arguments for display. `redact` removes known secrets. */
export function shownArguments(
  input: Readonly<Record<string, unknown>>,
  redact: (value: unknown) => unknown,
): readonly ShownArgument[] {
  const redacted = redact(input)
  const entries = isRecord(redacted) ? Object.entries(redacted) : []
  const shown = entries.slice(0, maxArguments).map(([name, value]) => {
    const text = JSON.stringify(value) ?? 'null'
    return { name: printable(name), value: printable(text, maxStoredLength), length: text.length }
  })
  const more = Object.keys(input).length - shown.length
  return more > 0 ? [...shown, { name: '…', value: counted(more, 'more argument'), length: 0 }] : shown
}

const labels: { readonly [decision in ApprovalDecision]: string } = {
  once: 'Allow once',
  session: 'Allow this call for this session',
  always: 'Always allow this call',
  deny: 'Deny',
}

/** Decisions that a person can choose from. Only a session can be approved as a session. */
export const decisionsFor = (hasSession: boolean): readonly ApprovalDecision[] =>
  hasSession ? ['once', 'session', 'always', 'deny'] : ['once', 'always', 'deny']

/** The question as a form for the user of the client. */
export function elicitation(question: CallQuestion, hasSession: boolean): ElicitParams {
  const choices = decisionsFor(hasSession).map((decision) => labels[decision])
  return {
    mode: 'form',
    message: questionText(question),
    requestedSchema: {
      type: 'object',
      properties: { decision: { type: 'string', title: 'Decision', enum: choices } },
      required: ['decision'],
    },
  }
}

/** One line each for the tool, the arguments and the rule: Claude Code shows the first three lines of a message. */
function questionText({ server, tool, arguments: given, rule, reason }: CallQuestion): string {
  return [
    `Allow this call? Server: ${printable(server)}, tool: ${printable(tool)}`,
    `Arguments: ${given.length === 0 ? 'none' : given.map(argumentText).join(', ')}`,
    `Asked by: ${rule ?? 'the default of the policy'}.${reason === undefined ? '' : ` Reason: ${printableText(reason)}`}`,
  ].join('\n')
}

function argumentText({ name, value, length }: ShownArgument): string {
  const cut = value.length > maxAskedLength ? `${value.slice(0, maxAskedLength)}…` : value
  // The model chooses the names: a quoted one cannot pass for a name and a value.
  const label = /^[\w.-]+$/u.test(name) ? name : JSON.stringify(name)
  return `${label}: ${cut}${cut.endsWith('…') ? ` (${length} characters)` : ''}`
}

// A host that runs without a user declines or cancels every form within milliseconds.
const fastestPersonMs = 1_000

/**
 * Reads the decision from the client's response, which came `afterMs` after the form. Everything but an explicit approval is a
 * denial. `undefined`: the client declined faster than a person can.
 */
export function decisionIn(response: unknown, afterMs: number): ApprovalDecision | undefined {
  if (!isRecord(response)) return 'deny'
  if (response.action !== 'accept') return afterMs < fastestPersonMs ? undefined : 'deny'
  const decision = isRecord(response.content) ? response.content.decision : undefined
  const [found] = Object.entries(labels).find(([, label]) => label === decision) ?? []
  return (found as ApprovalDecision | undefined) ?? 'deny'
}
