import { isRecord, isToolReason, type ToolReason } from '@unfold-mcp/core'

/** Message from a plugin's process to the server. */
export type Message =
  | {
      readonly kind: 'loaded'
      readonly name?: string
      readonly group?: string
      readonly tools: readonly Record<string, unknown>[]
    }
  | { readonly kind: 'failed'; readonly message: string; readonly line?: number }
  | {
      readonly kind: 'result'
      readonly id: number
      readonly value: unknown
      /** Class name of a value that JSON cannot represent. */
      readonly className?: string
    }
  /** `toolError`: reason of a `ToolError`. */
  | { readonly kind: 'error'; readonly id: number; readonly message: string; readonly toolError?: ToolReason }
  | {
      readonly kind: 'progress'
      readonly id: number
      readonly progress: number
      readonly total?: number
      readonly message?: string
    }
  | { readonly kind: 'log'; readonly id: number; readonly level: LogLevel; readonly data: unknown }
  | { readonly kind: 'cancelled'; readonly id: number }

const levels = ['debug', 'info', 'notice', 'warning', 'error'] as const

export type LogLevel = (typeof levels)[number]

/** Parses a line from a plugin's process; `undefined` if it is not a message, since plugin code can write to the pipe too. */
export function parseMessage(line: string): Message | undefined {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return undefined
  }
  if (!isRecord(value)) return undefined
  const { kind, message } = value
  if (kind === 'loaded') return parseLoaded(value)
  if (kind === 'failed') return { kind, message: String(message), ...(typeof value.line === 'number' && { line: value.line }) }
  return typeof value.id === 'number' ? parseCallMessage(value, value.id) : undefined
}

function parseLoaded({ name, group, tools }: Record<string, unknown>): Message | undefined {
  if (!Array.isArray(tools) || !tools.every(isRecord)) return undefined
  return { kind: 'loaded', tools, ...(typeof name === 'string' && { name }), ...(typeof group === 'string' && { group }) }
}

function parseCallMessage({ kind, ...rest }: Record<string, unknown>, id: number): Message | undefined {
  switch (kind) {
    case 'result':
      return { kind, id, value: rest.value, ...(typeof rest.className === 'string' && { className: rest.className }) }
    case 'error':
      return {
        kind,
        id,
        message: String(rest.message),
        ...(typeof rest.toolError === 'string' && { toolError: isToolReason(rest.toolError) ? rest.toolError : 'tool_failed' }),
      }
    case 'cancelled':
      return { kind, id }
    case 'progress': {
      const { progress, total, message } = rest
      if (typeof progress !== 'number') return undefined
      return { kind, id, progress, ...(typeof total === 'number' && { total }), ...(typeof message === 'string' && { message }) }
    }
    case 'log': {
      const level = levels.find((each) => each === rest.level)
      return level === undefined ? undefined : { kind, id, level, data: rest.data }
    }
    default:
      return undefined
  }
}
