import type { JsonSchema } from '@unfold-mcp/core'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../scope/scope.ts'

/** The output schema that the list shows for this name. */
export function outputSchemaOf({ catalogs }: Runtime, scope: Scope, name: string): JsonSchema | undefined {
  const { byName, aliases } = catalogs.of(scope).catalog
  return byName.get(aliases.get(name) ?? name)?.at(-1)?.tool.outputSchema
}
