/** The caller that `authenticate` identified. Extend it with your own claims; `id` keys the caller's state. */
export interface Principal {
  readonly id: string
}
