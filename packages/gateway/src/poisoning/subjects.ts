import type { SelfDescription } from '../catalog/groups.ts'
import type { UpstreamSource } from '../catalog/source.ts'
import type { Config } from '../config/schema.ts'
import { serverSlug } from '../names/naming.ts'
import { originalOf } from '../proxy/document-definitions.ts'
import type { UpstreamProxy } from '../proxy/proxy.ts'
import type { CheckedDefinition, Subject } from './poisoning-checks.ts'

/** All that clients may read of the servers in use, as the servers said it: before anything was taken out. */
export function collectSubjects(config: Config, source: UpstreamSource, proxy: UpstreamProxy): readonly Subject[] {
  return Object.entries(config.mcpServers)
    .filter(([, { disabled }]) => !disabled)
    .map(([server, { about }]) => {
      const says = source.says(server)
      const { prompts, resources, templates } = proxy.offered(server)
      const definitions: CheckedDefinition[] = source.definitions(server).map(({ entry, own, said }) => ({ key: entry, tool: own, said }))
      // Where the configuration describes the server, nobody reads its own words.
      if (says !== undefined && about === undefined) definitions.push(...ofItself(says))
      const say = (what: string, key: object): void => void definitions.push({ key, said: { [what]: originalOf(key) } })
      for (const each of prompts) say(`prompt ${each.name}`, each)
      for (const each of resources) say(`resource ${each.uri}`, each)
      for (const each of templates) say(`resource template ${each.uriTemplate}`, each)
      return { server, slug: serverSlug(server), definitions }
    })
}

// Of more than this nothing is ever shown.
const maxCharacters = 65_536

const known = new WeakMap<SelfDescription, readonly CheckedDefinition[]>()

/** Each by itself: after a restart some are known before the others, and are no others because of it. */
function ofItself(says: SelfDescription): readonly CheckedDefinition[] {
  const before = known.get(says)
  if (before !== undefined) return before
  const { title, instructions, info } = says
  const parts = [
    { title: title?.slice(0, maxCharacters) },
    { instructions: instructions?.slice(0, maxCharacters) },
    ...(info?.description === undefined ? [] : [{ description: info.description.slice(0, maxCharacters) }]),
  ]
  const definitions = parts.map((said) => ({ key: said, said }))
  known.set(says, definitions)
  return definitions
}
