import { masked, maskedArgs, maskedUrl } from './mask.ts'

/** A server that is started as a process. */
export interface CommandTarget {
  readonly command: string
  readonly args?: readonly string[]
  readonly env?: Record<string, string>
  readonly cwd?: string
}

/** A server that is reached at an address. */
export interface UrlTarget {
  readonly url: string
  readonly headers?: Record<string, string>
  /** `auto`: HTTP as it is now, and the older SSE where a server knows only that. */
  readonly transport?: 'auto' | 'http' | 'sse'
}

/** How to reach a server, as `connect` takes it. */
export type ServerTarget = CommandTarget | UrlTarget

/** The target as it may be shown: every value that could be a secret is masked, references to variables are not. */
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
    ...(target.env !== undefined && { env: maskedValues(target.env) }),
  }
}

const maskedValues = (values: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, masked(value)]))
