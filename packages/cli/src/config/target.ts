import type { Sandbox } from '@unfold-mcp/client'
import { masked, maskedArgs, maskedUrl, maskedVariable } from '@unfold-mcp/core'

export interface CommandTarget {
  readonly command: string
  readonly args?: readonly string[]
  readonly env?: Record<string, string>
  readonly cwd?: string
  /** Only from `unfold.json`. */
  readonly sandbox?: Sandbox
}

export interface UrlTarget {
  readonly url: string
  readonly headers?: Record<string, string>
  /** `auto`: streamable HTTP, with a fallback to the older SSE transport. */
  readonly transport?: 'auto' | 'http' | 'sse'
}

/** Target accepted by `connect`. */
export type ServerTarget = CommandTarget | UrlTarget

/** Masks all values that could be secrets; references to variables stay visible. */
export function maskedTarget(target: ServerTarget): ServerTarget {
  if ('url' in target)
    return {
      ...target,
      url: maskedUrl(target.url),
      ...(target.headers !== undefined && { headers: maskedValues(target.headers) }),
    }
  return {
    ...target,
    ...(target.args !== undefined && { args: maskedArgs(target.args) }),
    ...(target.env !== undefined && { env: maskedEnv(target.env) }),
  }
}

const maskedEnv = (values: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, maskedVariable(name, value)]))

const maskedValues = (values: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, masked(value)]))
