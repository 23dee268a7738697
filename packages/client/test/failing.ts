import { type ClientError, isClientError } from '../src/errors/errors.ts'

/** Returns the error of a promise that must reject. */
export async function failure(promise: Promise<unknown>): Promise<ClientError> {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (isClientError(error)) return error
  throw new Error(`It should have failed with a ClientError, and did not: ${String(error)}`)
}
