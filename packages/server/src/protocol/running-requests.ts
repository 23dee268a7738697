import { cancellation } from '../operations/calling/deadline.ts'
import type { Operation, OwnRequest } from '../operations/operation.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../scope/scope.ts'
import { type ResponseJson, runOperation } from './dispatch.ts'

interface Running {
  readonly controller: AbortController
  readonly tool: string
  readonly scope: Scope
}

/** Running requests for our own methods, by a unique key: within a connection, the request id. */
export class RunningRequests {
  readonly #runtime: Runtime
  readonly #byKey = new Map<unknown, Running>()

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  /** Runs an operation. Resolves to `undefined` if the request was cancelled, because it gets no response. */
  async run(
    key: unknown,
    operation: Operation,
    scope: Scope,
    request: Omit<OwnRequest, 'controller'>,
  ): Promise<ResponseJson | undefined> {
    const controller = new AbortController()
    const running: Running = { controller, tool: String(request.params.name), scope }
    this.#byKey.set(key, running)
    const response = await runOperation(operation, this.#runtime, scope, { ...request, controller })
    // Cancelled; another request may have the key by now.
    if (this.#byKey.get(key) !== running) return undefined
    this.#byKey.delete(key)
    return response
  }

  /** Aborts a request without a response. */
  cancel(key: unknown): void {
    const running = this.#byKey.get(key)
    this.#byKey.delete(key)
    if (running !== undefined) abort(running)
  }

  cancelAll(): void {
    for (const key of [...this.#byKey.keys()]) this.cancel(key)
  }

  /** Aborts matching requests; their clients get an error response. */
  abortAll(matches: (scope: Scope, key: unknown) => boolean): void {
    for (const [key, running] of this.#byKey) if (matches(running.scope, key)) abort(running)
  }
}

const abort = ({ controller, tool }: Running): void => controller.abort(cancellation(tool))
