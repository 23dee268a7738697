import type { SelfDescription } from '../catalog/groups.ts'
import type { UpstreamSource } from '../catalog/source.ts'
import type { Config } from '../config/schema.ts'
import { serverSlug } from '../names/naming.ts'
import { saidOf } from '../proxy/definitions.ts'
import type { Passing } from '../proxy/proxy.ts'
import type { Saying, Suspect } from './findings.ts'

/** All that clients may read of the servers in use, as the servers said it: before anything was taken out. */
export function suspectsOf(config: Config, source: UpstreamSource, passing: Passing): readonly Suspect[] {
  return Object.entries(config.mcpServers)
    .filter(([, { disabled }]) => !disabled)
    .map(([server, { about }]) => {
      const says = source.says(server)
      const { prompts, resources, templates } = passing.offered(server)
      const sayings: Saying[] = source.sayings(server).map(({ entry, own, said }) => ({ key: entry, tool: own, said }))
      // Where the configuration describes the server, nobody reads its own words.
      if (says !== undefined && about === undefined) sayings.push(...ofItself(says))
      const say = (what: string, key: object): void => void sayings.push({ key, said: { [what]: saidOf(key) } })
      for (const each of prompts) say(`prompt ${each.name}`, each)
      for (const each of resources) say(`resource ${each.uri}`, each)
      for (const each of templates) say(`resource template ${each.uriTemplate}`, each)
      return { server, slug: serverSlug(server), sayings }
    })
}

// Of more than this nothing is ever shown.
const mostCharacters = 65_536

const known = new WeakMap<SelfDescription, readonly Saying[]>()

/** Each by itself: after a restart some are known before the others, and are no others because of it. */
function ofItself(says: SelfDescription): readonly Saying[] {
  const before = known.get(says)
  if (before !== undefined) return before
  const { title, instructions, info } = says
  const parts = [
    { title: title?.slice(0, mostCharacters) },
    { instructions: instructions?.slice(0, mostCharacters) },
    ...(info?.description === undefined ? [] : [{ description: info.description.slice(0, mostCharacters) }]),
  ]
  const sayings = parts.map((said) => ({ key: said, said }))
  known.set(says, sayings)
  return sayings
}
