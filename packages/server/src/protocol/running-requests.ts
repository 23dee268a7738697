import { cancellation } from '../operations/calling/deadline.ts'
import type { Operation, OwnRequest } from '../operations/operation.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../scope/scope.ts'
import { type ResponseJson, responseTo } from './dispatch.ts'

interface Running {
  readonly controller: AbortController
  readonly tool: string
  readonly scope: Scope
}

/** The requests for our own methods that are being answered. A key is unique among them: the request's id within a connection. */
export class RunningRequests {
  readonly #runtime: Runtime
  readonly #byKey = new Map<unknown, Running>()

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  /** Runs an operation. Resolves to nothing for a request that was cancelled meanwhile, because it gets no response. */
  async run(
    key: unknown,
    operation: Operation,
    scope: Scope,
    request: Omit<OwnRequest, 'controller'>,
  ): Promise<ResponseJson | undefined> {
    const controller = new AbortController()
    const running: Running = { controller, tool: String(request.params.name), scope }
    this.#byKey.set(key, running)
    const response = await responseTo(operation, this.#runtime, scope, { ...request, controller })
    // Another request may have the key by now.
    if (this.#byKey.get(key) !== running) return undefined
    this.#byKey.delete(key)
    return response
  }

  /** Ends a request that gets no response. */
  cancel(key: unknown): void {
    const running = this.#byKey.get(key)
    this.#byKey.delete(key)
    if (running !== undefined) abort(running)
  }

  cancelAll(): void {
    for (const key of [...this.#byKey.keys()]) this.cancel(key)
  }

  /** Aborts the work on these requests; their clients get a response that says so. */
  abortAll(which: (scope: Scope, key: unknown) => boolean): void {
    for (const [key, running] of this.#byKey) if (which(running.scope, key)) abort(running)
  }
}

const abort = ({ controller, tool }: Running): void => controller.abort(cancellation(tool))
