import { Failure } from '@unfold-mcp/core'
import type { Runtime } from './runtime/runtime.ts'

const servables = new WeakMap<object, () => Runtime>()

/** Makes `object` something that can be served. */
export function servable(object: object, runtime: () => Runtime): void {
  servables.set(object, runtime)
}

/** The runtime of a toolbox, an adopted server, or an instance of a decorated class. */
export function runtimeOf(object: object): Runtime {
  const runtime = servables.get(object)
  if (runtime !== undefined) return runtime()
  throw new Failure(
    'unsupported_server',
    'This cannot be served. Pass a toolbox (defineToolbox), an adopted server (adopt), or an instance of a class with @mcpServer.',
    { problem: typeof object },
  )
}
