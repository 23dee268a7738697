/** What a `requestState` of the gateway refers to. */
export interface Reference {
  readonly id: string
  /** Set if the call was sent and its server asked for input. */
  readonly continuation?: string | undefined
  /** `requestState` of the server. */
  readonly inner?: string | undefined
}

const pattern = /^approval\.([0-9a-f]{1,64})(?:\.([0-9a-f-]{36})(?:\.(.*))?)?$/su

/** Not a secret: an approval applies only to the call and the caller that it is bound to. */
export const encodeReference = ({ id, continuation, inner }: Reference): string =>
  ['approval', id, ...(continuation === undefined ? [] : [continuation, ...(inner === undefined ? [] : [inner])])].join('.')

/** Returns `undefined` for the state of a server. */
export function parseReference(state: string | undefined): Reference | undefined {
  const [whole, id = '', continuation, inner] = pattern.exec(state ?? '') ?? []
  return whole === undefined ? undefined : { id, continuation, inner }
}
