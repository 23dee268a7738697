import type { OwnRequest } from '../request.ts'

/** Requests in one language. */
export interface LanguageSet {
  readonly language: string
  /** Descriptions in that language by tool id; all other tools remain English. */
  readonly descriptions: { readonly [id: string]: string }
  /** Half of them for tools with a description in that language. */
  readonly requests: readonly OwnRequest[]
}
