import { isRecord } from '@unfold-mcp/core'

/** What the process of a plugin says. */
export type Message =
  | {
      readonly kind: 'loaded'
      readonly name?: string
      readonly group?: string
      readonly tools: readonly Record<string, unknown>[]
    }
  | { readonly kind: 'failed'; readonly message: string; readonly where?: number }
  | {
      readonly kind: 'result'
      readonly id: number
      readonly value: unknown
      /** The class of a value that JSON could not carry. */
      readonly foreign?: string
    }
  | { readonly kind: 'error'; readonly id: number; readonly message: string; readonly foreseen: boolean }
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

type Fields = { readonly [name: string]: unknown }

/** Reads a line from a plugin's process, whose code may write to the pipe itself; nothing for one that is no message. */
export function messageOn(line: string): Message | undefined {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return undefined
  }
  if (!isRecord(value)) return undefined
  const { kind, message } = value
  if (kind === 'loaded') return loadedOf(value)
  if (kind === 'failed') return { kind, message: String(message), ...(typeof value.where === 'number' && { where: value.where }) }
  return typeof value.id === 'number' ? aboutCall(value, value.id) : undefined
}

function loadedOf({ name, group, tools }: Fields): Message | undefined {
  if (!Array.isArray(tools) || !tools.every(isRecord)) return undefined
  return { kind: 'loaded', tools, ...(typeof name === 'string' && { name }), ...(typeof group === 'string' && { group }) }
}

function aboutCall({ kind, ...rest }: Fields, id: number): Message | undefined {
  switch (kind) {
    case 'result':
      return { kind, id, value: rest.value, ...(typeof rest.foreign === 'string' && { foreign: rest.foreign }) }
    case 'error':
      return { kind, id, message: String(rest.message), foreseen: rest.foreseen === true }
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
