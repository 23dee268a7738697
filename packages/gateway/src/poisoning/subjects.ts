import type { SelfDescription } from '../catalog/groups.ts'
import type { UpstreamSource } from '../catalog/source.ts'
import type { Config } from '../config/schema.ts'
import { serverSlug } from '../names/naming.ts'
import { originalOf } from '../proxy/document-definitions.ts'
import type { UpstreamProxy } from '../proxy/proxy.ts'
import type { CheckedDefinition, Subject } from './poisoning-checks.ts'

/** Collects everything that clients may read from the enabled servers, before sanitizing. */
export function collectSubjects(config: Config, source: UpstreamSource, proxy: UpstreamProxy): readonly Subject[] {
  return Object.entries(config.mcpServers)
    .filter(([, { disabled }]) => !disabled)
    .map(([server, { description }]) => {
      const selfDescription = source.selfDescription(server)
      const { prompts, resources, templates } = proxy.documents(server)
      const definitions: CheckedDefinition[] = source
        .originals(server)
        .map(({ entry, name, definition }) => ({ key: entry, tool: name, definition }))
      // A configured description replaces the server's own text.
      if (selfDescription !== undefined && description === undefined) definitions.push(...textsOf(selfDescription))
      const add = (label: string, key: object): void => void definitions.push({ key, definition: { [label]: originalOf(key) } })
      for (const each of prompts) add(`prompt ${each.name}`, each)
      for (const each of resources) add(`resource ${each.uri}`, each)
      for (const each of templates) add(`resource template ${each.uriTemplate}`, each)
      return { server, slug: serverSlug(server), definitions }
    })
}

// Clients never see more than this.
const maxCharacters = 65_536

const cache = new WeakMap<SelfDescription, readonly CheckedDefinition[]>()

// Separate definitions: after a restart some are known before others, and must not be logged again.
function textsOf(selfDescription: SelfDescription): readonly CheckedDefinition[] {
  const cached = cache.get(selfDescription)
  if (cached !== undefined) return cached
  const { title, instructions, info } = selfDescription
  const parts = [
    { title: title?.slice(0, maxCharacters) },
    { instructions: instructions?.slice(0, maxCharacters) },
    ...(info?.description === undefined ? [] : [{ description: info.description.slice(0, maxCharacters) }]),
  ]
  const definitions = parts.map((definition) => ({ key: definition, definition }))
  cache.set(selfDescription, definitions)
  return definitions
}
