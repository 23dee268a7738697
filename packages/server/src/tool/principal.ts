/** Who is asking, as the author's `authenticate` found out. `id` keys everything that belongs to them. */
export interface Principal {
  readonly id: string
  readonly [claim: string]: unknown
}
