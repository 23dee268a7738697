import type { Exposure } from '@unfold-mcp/core'
import type { CatalogState } from '../catalog/catalog-state.ts'
import type { Scope } from '../scope/scope.ts'

/** The chosen exposure, and why. */
export interface Decision {
  readonly exposure: Exposure
  readonly reason: string
  /** Cost of the full list, where it was measured. */
  readonly tokens?: number
}

/** Chooses the exposure for a client. `fullTokens` measures the list of everything, only where its size matters. */
export function decideExposure({ settings }: Scope, { groups }: CatalogState, fullTokens: () => number): Decision {
  const { preference, canActivate, host } = settings
  if (preference === 'native' && host?.profile.defers === 'always')
    return { exposure: preference, reason: `${host.profile.title} defers tools itself` }
  if (preference !== 'auto' && preference !== 'measured') {
    const exposure = preference === 'lazy' && !canActivate ? 'search' : preference
    const fixed = 'a call cannot change the list in this protocol revision'
    return { exposure, reason: exposure === preference ? `"${preference}" was requested or declared` : fixed }
  }
  if (preference === 'measured' && groups.byName.size === 0)
    return { exposure: 'everything', reason: 'the server declares no groups' }
  const { budgetTokens } = settings.exposureSettings
  const tokens = fullTokens()
  const measure = `the full list costs about ${tokens} tokens and the budget is ${budgetTokens}`
  return { exposure: tokens <= budgetTokens ? 'everything' : 'search', reason: measure, tokens }
}
