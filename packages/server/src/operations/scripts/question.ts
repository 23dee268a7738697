import { counted, isRecord, printable } from '@unfold-mcp/core'
import type { ClientMethod } from '../../tool/client-port.ts'

/** Questions by key, as `inputRequests` of 2026-07-28 has them. */
export type Questions = { readonly [key: string]: { readonly method: ClientMethod; readonly params: Record<string, unknown> } }

export const confirmKey = 'confirm'

/** The key of a question that the tool of a call asks. */
export const inputKey = (id: number, key: string): string => `call-${id}.${key}`

/** A call that a person confirms. */
export interface AskedCall {
  readonly tool: string
  readonly arguments: unknown
}

/** What a person decided about a batch; `further`: calls of the same tools that need no more questions. */
export type Decision = { readonly kind: 'run'; readonly further: number } | { readonly kind: 'deny' }

const labels = {
  run: 'Run these calls',
  more: 'Run these, and further calls of these tools in this script',
  deny: 'Deny',
} as const

const shownTools = 8
const shownArguments = 200
const defaultFurther = 100

/** One question about all calls that wait. Claude Code shows the first three lines of a message, so the first line says it all. */
export function confirmation(calls: readonly AskedCall[], maxFurther: number): Questions[string] {
  const byTool = new Map<string, AskedCall[]>()
  for (const call of calls) byTool.set(call.tool, [...(byTool.get(call.tool) ?? []), call])
  const tools = [...byTool]
  const summary = tools.slice(0, shownTools).map(([tool, each]) => `${printable(tool)} (${counted(each.length, 'call')})`)
  const rest = tools.length > shownTools ? `, and ${counted(tools.length - shownTools, 'more tool')}` : ''
  const examples = tools.slice(0, shownTools).map(([tool, each]) => `${printable(tool)}: ${argumentsText(each)}`)
  return {
    method: 'elicitation/create',
    params: {
      mode: 'form',
      message: [`A script wants to call ${summary.join(', ')}${rest}.`, ...examples].join('\n'),
      requestedSchema: {
        type: 'object',
        properties: {
          decision: { type: 'string', title: 'Decision', enum: Object.values(labels) },
          further: {
            type: 'integer',
            title: 'Further calls at most',
            minimum: 1,
            maximum: maxFurther,
            default: Math.min(defaultFurther, maxFurther),
          },
        },
        required: ['decision'],
      },
    },
  }
}

function argumentsText(calls: readonly AskedCall[]): string {
  const [first, ...rest] = calls
  const text = printable(JSON.stringify(first?.arguments ?? {}) ?? '{}', shownArguments)
  return rest.length === 0 ? text : `${text}, and ${rest.length} more`
}

// A host that runs without a user declines or cancels every form within milliseconds.
const fastestPersonMs = 1_000

/**
 * Reads a decision. Everything but an explicit approval is a denial. `undefined`: the client declined faster than a person can, so
 * nobody was asked.
 */
export function decisionIn(response: unknown, afterMs: number, maxFurther: number): Decision | undefined {
  if (!isRecord(response)) return { kind: 'deny' }
  if (response.action !== 'accept') return afterMs < fastestPersonMs ? undefined : { kind: 'deny' }
  const { decision, further } = isRecord(response.content) ? response.content : {}
  if (decision === labels.run) return { kind: 'run', further: 0 }
  if (decision !== labels.more) return { kind: 'deny' }
  const wanted = typeof further === 'number' && Number.isSafeInteger(further) && further > 0 ? further : defaultFurther
  return { kind: 'run', further: Math.min(wanted, maxFurther) }
}
