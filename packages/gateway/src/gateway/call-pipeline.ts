import type { UpstreamSource } from '../catalog/source.ts'
import type { Config } from '../config/schema.ts'
import { inspectCalls } from '../inspection/inspected-calls.ts'
import type { InspectResult } from '../inspection/result-inspector.ts'
import { type CallHandler, composeMiddleware, type Middleware } from '../middleware/chain.ts'
import { type PolicyMiddlewareOptions, policyMiddleware } from '../policy/middleware.ts'
import type { ResultStore } from '../results/store.ts'
import { truncateResults } from '../results/truncation.ts'

export interface CallPipelineOptions extends PolicyMiddlewareOptions {
  readonly results: ResultStore
  readonly config: () => Config
  readonly source: () => UpstreamSource
  readonly inspect: InspectResult | undefined
  readonly middleware: readonly Middleware[]
  /** Sends the call to its server. */
  readonly send: CallHandler
}

/** Returns what every call passes on its way to a server: truncation and inspection of its result, middleware, policy. */
export function callPipeline(options: CallPipelineOptions): CallHandler {
  const { results, config, source, inspect, middleware, send } = options
  const truncate = truncateResults({
    store: results,
    maxCharacters: () => config().results.maxCharacters,
    hasOutputSchema: (upstream, tool) => source().toolOf(upstream, tool)?.outputSchema !== undefined,
  })
  const inspected = inspect === undefined ? [] : [inspectCalls(inspect)]
  // The policy is innermost, so that nothing reaches a server without a verdict.
  return composeMiddleware([truncate, ...inspected, ...middleware, policyMiddleware(options)], send)
}
