/** What a `requestState` of the gateway refers to. */
export interface Reference {
  readonly id: string
  /** The replica that has the question, if not all have it. */
  readonly replica?: string | undefined
  /** When the form was sent, in milliseconds since 1970. */
  readonly shownAt?: number | undefined
  /** Set if the call was sent and its server asked for input. */
  readonly continuation?: string | undefined
  /** `requestState` of the server. */
  readonly inner?: string | undefined
}

const pattern = /^approval\.([0-9a-f]{1,64})(?:~([\w-]{1,64}))?(?:@(\d{1,15}))?(?:\.([0-9a-f-]{36})(?:\.(.*))?)?$/su

/** Not a secret: an approval applies only to the call and the caller that it is bound to. */
export const encodeReference = ({ id, replica, shownAt, continuation, inner }: Reference): string =>
  [
    'approval',
    `${id}${replica === undefined ? '' : `~${replica}`}${shownAt === undefined ? '' : `@${shownAt}`}`,
    ...(continuation === undefined ? [] : [continuation, ...(inner === undefined ? [] : [inner])]),
  ].join('.')

/** Returns `undefined` for the state of a server. */
export function parseReference(state: string | undefined): Reference | undefined {
  const [whole, id = '', replica, shownAt, continuation, inner] = pattern.exec(state ?? '') ?? []
  if (whole === undefined) return undefined
  return { id, replica, shownAt: shownAt === undefined ? undefined : Number(shownAt), continuation, inner }
}
