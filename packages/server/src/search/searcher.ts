import type { Principal } from '../tool/principal.ts'

/** The part of a scope that search needs; also its identity for anonymous usage history. */
export interface Searcher {
  readonly settings: { readonly principal: Principal | undefined }
}
