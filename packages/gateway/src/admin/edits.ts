import type { ConfigEdit } from '../consent/edit.ts'
import type { EditDecision } from '../consent/edit-consent.ts'
import { parseBody } from './body.ts'

/** Edits of the configuration file that wait for a person. */
export interface EditReview {
  list(): readonly ConfigEdit[]
  /** Returns the edits that the decision applies to. `by`: who decided. */
  decide(decision: EditDecision, by: string): Promise<readonly ConfigEdit[]>
}

const maxDigests = 10_000

/** Reads a decision from the body of a request; `undefined` if it is invalid. */
export function parseEditDecision(body: Uint8Array | undefined): EditDecision | undefined {
  const { approve = [], reject = [] } = parseBody(body)
  return isDigests(approve) && isDigests(reject) && approve.length + reject.length > 0 ? { approve, reject } : undefined
}

const isDigests = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length <= maxDigests && value.every((each) => typeof each === 'string')
