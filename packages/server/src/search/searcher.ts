import type { Principal } from '../tool/principal.ts'

/** The scope that searches. */
export interface Searcher {
  readonly settings: { readonly principal: Principal | undefined }
}
