import { errorMessage } from '../base/error-message.ts'

/** Approvals cannot be read or written at the moment. */
export class ApprovalsUnavailable extends Error {
  override readonly name = 'ApprovalsUnavailable'
}

/** Marks failures of the store, which deny a call instead of breaking it. */
export function available<T>(stored: Promise<T>): Promise<T> {
  return stored.catch((error: unknown) => {
    throw new ApprovalsUnavailable(`Approvals cannot be read or written: ${errorMessage(error)}`, { cause: error })
  })
}
