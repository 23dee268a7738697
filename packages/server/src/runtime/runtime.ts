import type { McpServer, Server } from '@modelcontextprotocol/server'
import { CatalogBuilder } from '../catalog/catalog-builder.ts'
import { type Declaration, mayShare } from '../catalog/declaration.ts'
import { Permissions } from '../catalog/permissions.ts'
import { Activations } from '../scope/activations.ts'
import type { Scope } from '../scope/scope.ts'
import { Scopes } from '../scope/scopes.ts'
import { ToolSearch } from '../search/tool-search.ts'
import type { Source } from '../tool/entry.ts'
import { Announcer } from '../view/announcer.ts'
import { Identities } from '../view/identities.ts'
import { Relists } from '../view/relists.ts'
import { Views } from '../view/views.ts'
import { readerKey } from './list-identity.ts'
import { ObservedShapes } from './observed-shapes.ts'
import { Scripts } from './scripts.ts'
import { Slots } from './slots.ts'

/** Creates the SDK server of a scope whose tools come from an adopted server. `isDiscoverable`: the client may ask what the server is for. */
export type AdoptedHost = (runtime: Runtime, scope: Scope, isDiscoverable: boolean) => Server | McpServer

/** The parts of a served toolbox. Functions that work on several of them are in the files next to this one. */
export interface Runtime {
  readonly declaration: Declaration
  readonly catalogs: CatalogBuilder
  readonly permissions: Permissions
  readonly activations: Activations
  readonly scopes: Scopes
  readonly views: Views
  readonly announcer: Announcer
  readonly relists: Relists
  readonly identities: Identities
  readonly search: ToolSearch
  readonly slots: Slots
  readonly scripts: Scripts
  readonly shapes: ObservedShapes
  readonly adoptedHost: AdoptedHost | undefined
  /** Runs when the runtime stops. */
  readonly unsubscribe: () => void
}

export function createRuntime(declaration: Declaration, sources: readonly Source[], adoptedHost?: AdoptedHost): Runtime {
  const { report, now, facts, identity, search } = declaration
  const catalogs = new CatalogBuilder(declaration, sources)
  const permissions = new Permissions(declaration.permit, report)
  const activations = new Activations(
    declaration,
    () => catalogs.current.groups,
    ({ scopes: affected }) => announcer.notifySoon(affected),
  )
  const views = new Views({ catalogOf: (scope) => catalogs.of(scope), facts, permissions, report })
  const announcer = new Announcer((scope) => views.rendered(scope).fingerprint, now)
  const shapes = new ObservedShapes()
  const identities = new Identities(identity === 'names' ? 'names' : 'definitions')
  const scopes: Scopes = new Scopes(
    { declaration, catalogs, permissions, activations },
    {
      opened(scope) {
        const { exposure, reason, tokens } = views.decision(scope)
        if (tokens !== undefined) scopes.log?.(`${scope.key}: exposure ${exposure}, because ${reason}.`)
      },
      changed: (scope) => announcer.notifySoon([scope]),
      closed(scope) {
        announcer.detach(scope)
        if (readerKey(scope) !== scope.key) return
        identities.forget(scope.key)
        shapes.forget(scope.key)
      },
    },
  )
  for (const source of sources) catalogs.add(source, () => announcer.notifySoon())
  return {
    declaration,
    catalogs,
    permissions,
    activations,
    scopes,
    views,
    announcer,
    relists: new Relists(announcer, now, declaration.relistTimeoutMs),
    identities,
    search: new ToolSearch({ settings: search, now, report }),
    slots: new Slots(declaration.callLimits),
    scripts: new Scripts(declaration.code),
    shapes,
    adoptedHost,
    unsubscribe:
      typeof facts === 'object' ? facts.subscribe(() => announcer.notifyPaced(declaration.notifyIntervalMs)) : () => undefined,
  }
}

/** Adds a source and follows its changes. */
export function addSource({ catalogs, announcer }: Runtime, source: Source): void {
  catalogs.add(source, () => announcer.notifySoon())
}

/** Releases everything that hooks prepared. The runtime cannot be used afterwards. */
export async function stopRuntime({
  unsubscribe,
  announcer,
  search,
  catalogs,
  scopes,
  activations,
  scripts,
}: Runtime): Promise<void> {
  unsubscribe()
  announcer.close()
  search.close()
  catalogs.close()
  await scopes.closeAll()
  await scripts.close()
  await activations.stop()
}

/** Whether a list can depend on the principal; an adopted server may be created for one. */
export function dependsOnPrincipal({ declaration }: Runtime): boolean {
  const { permit, scopedServer, exposureFor } = declaration
  return permit !== undefined || mayShare(declaration) || scopedServer !== undefined || exposureFor !== undefined
}

/** Whether the list of a stateless client can change while the server runs. */
export function canChange({ declaration, catalogs }: Runtime): boolean {
  const { conditional, composite } = catalogs.current.catalog
  const hasConditions =
    conditional.length > 0 || composite.some(({ modes }) => modes?.all.some(({ available }) => available !== undefined))
  return mayShare(declaration) || catalogs.sourceCount > 1 || hasConditions
}
