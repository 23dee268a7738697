import type { Exposure, Tool } from '@unfold-mcp/core'
import type { Runtime } from '../runtime/runtime.ts'
import { viewOfUrl } from '../scope/url-view.ts'
import type { Era } from '../tool/context.ts'
import type { Principal } from '../tool/principal.ts'
import { instructionsFor } from './instructions.ts'

/** A hypothetical client. */
export interface PreviewOptions<P extends Principal = Principal> {
  readonly era?: Era
  readonly principal?: P | undefined
  /** The query of its URL, such as `groups=a,b`. */
  readonly view?: string
}

/** What a client would see, and its cost. */
export interface Preview {
  readonly exposure: Exposure
  /** Why this exposure was chosen. */
  readonly reason: string
  /** The budget that the full list was compared with; absent where the exposure does not depend on it. */
  readonly budgetTokens?: number
  /** Instructions for the model. */
  readonly instructions?: string
  readonly listed: readonly Tool[]
  readonly listedTokens: number
  /** Everything that the client may use, listed or not. */
  readonly all: readonly Tool[]
  readonly allTokens: number
}

let previews = 0

/**
 * Computes the first list of a client that connects now, without leaving a trace. Hooks run as they would for that client; what
 * they prepare for all stateless clients, or all sessions of a principal, stays.
 */
export async function previewFor(runtime: Runtime, { era = 'session', principal, view = '' }: PreviewOptions): Promise<Preview> {
  const scope = await runtime.scopes.open({
    key: `preview:${++previews}`,
    era,
    principal,
    view: viewOfUrl(new URLSearchParams(view)),
  })
  try {
    const { exposure, reason, tokens } = runtime.views.decision(scope)
    const listed = runtime.views.rendered(scope)
    const permitted = runtime.views.permitted(scope)
    const instructions = instructionsFor(runtime, scope)
    return {
      exposure,
      reason,
      ...(tokens !== undefined && { budgetTokens: scope.settings.exposureSettings.budgetTokens }),
      ...(instructions !== undefined && { instructions }),
      listed: listed.tools,
      listedTokens: listed.tokens,
      all: permitted.tools,
      allTokens: permitted.tokens,
    }
  } finally {
    await runtime.scopes.close(scope)
  }
}
