import { type Exposure, estimateTokens, gateName, type Tool } from '@unfold-mcp/core'
import { activateAll, setTools } from '../runtime/activation.ts'
import { discoverable } from '../runtime/discoverable.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../scope/scope.ts'
import { viewOfUrl } from '../scope/url-view.ts'
import type { Era } from '../tool/context.ts'
import type { Principal } from '../tool/principal.ts'
import { defaultMatches, searchReply } from './discovery/search-tools.ts'
import { instructionsFor } from './instructions.ts'

/** A hypothetical client. */
export interface PreviewOptions<P extends Principal = Principal> {
  readonly era?: Era
  readonly principal?: P | undefined
  /** The query of its URL, such as `groups=a,b`. */
  readonly view?: string
  /** Groups and tools that it activates before it lists. */
  readonly activate?: readonly string[]
  /** A query that it searches for. */
  readonly search?: string
}

/** What a search returns to a model, with an explanation of the order. */
export interface PreviewedSearch {
  readonly confidence: 'strong' | 'weak' | 'none'
  /** The same as a number from 0 to 1. */
  readonly certainty: number
  /** Words of the query without a match. */
  readonly unmatched: readonly string[]
  /** Number of tools that were searched. */
  readonly total: number
  readonly matches: readonly {
    readonly name: string
    readonly score: number
    /** The query contains its name. */
    readonly isNamed: boolean
    /** What each word of the query contributes; `worth` is relative to the maximum. */
    readonly why?: {
      readonly words: readonly {
        readonly word: string
        readonly term: string
        readonly via: string
        readonly fields: readonly string[]
        readonly worth: number
      }[]
      readonly boost: number
    }
  }[]
  /** The text that the model reads. */
  readonly reply: string
  readonly replyTokens: number
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
  /** Groups that a client can activate, and whether it is worth trying: a client without a session cannot. */
  readonly groups: readonly string[]
  readonly canActivate: boolean
  readonly search?: PreviewedSearch
}

let previews = 0

/**
 * Computes the first list of a client that connects now, without leaving a trace. Hooks run as they would for that client; what
 * they prepare for all stateless clients, or all sessions of a principal, stays.
 */
export async function previewFor(
  runtime: Runtime,
  { era = 'session', principal, view = '', activate = [], search }: PreviewOptions,
): Promise<Preview> {
  const scope = await runtime.scopes.open({
    key: `preview:${++previews}`,
    era,
    principal,
    view: viewOfUrl(new URLSearchParams(view)),
  })
  try {
    if (activate.length > 0) await activated(runtime, scope, activate)
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
      groups: [...runtime.catalogs.of(scope).groups.byName.keys()].filter((name) => name !== gateName),
      canActivate: scope.settings.canActivate,
      ...(search !== undefined && { search: await searched(runtime, scope, search) }),
    }
  } finally {
    await runtime.scopes.close(scope)
  }
}

/** Activates groups, and enables other names as single tools. */
async function activated(runtime: Runtime, scope: Scope, names: readonly string[]): Promise<void> {
  if (!scope.settings.canActivate) return
  const { groups } = runtime.catalogs.of(scope)
  const isGroup = (name: string): boolean => groups.byName.has(name)
  const tools = names.filter((name) => !isGroup(name))
  await activateAll(runtime, scope, names.filter(isGroup))
  if (tools.length > 0) await setTools(runtime, scope, (before) => [...before, ...tools])
}

const maxPreviewedMatches = 10

async function searched(runtime: Runtime, scope: Scope, query: string): Promise<PreviewedSearch> {
  const { entries } = discoverable(runtime, scope)
  const { catalog } = runtime.catalogs.of(scope)
  const isShared = scope.scopedServer === undefined
  const found = await runtime.search.search(scope, {
    catalog,
    isShared,
    query,
    among: entries,
    limit: maxPreviewedMatches,
    explain: true,
  })
  const { confidence, certainty, unmatched, total, matches } = found
  const { content } = searchReply({ query }, { ...found, matches: matches.slice(0, defaultMatches) }, entries)
  const reply = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
  return {
    ...{ confidence, certainty, unmatched, total, reply },
    replyTokens: estimateTokens(reply),
    matches: matches.map(({ entry, score, isNamed, why }) => ({
      name: entry.tool.name,
      ...{ score, isNamed },
      ...(why !== undefined && { why }),
    })),
  }
}
