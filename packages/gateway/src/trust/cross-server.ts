import { confusableKey, printable } from '@unfold-mcp/core'
import { serverSlug } from '../names/naming.ts'
import { type Finding, findingOf } from '../poisoning/finding.ts'
import { ToolMentions } from '../poisoning/mentions.ts'
import type { Item } from './records/record.ts'
import { scanned } from './scanned.ts'

type ToolNames = ReadonlyMap<string, readonly string[]>

interface Others {
  readonly mentions: ToolMentions
  /** Names that are easily confused, with their servers. */
  readonly names: ReadonlyMap<string, readonly { readonly server: string; readonly name: string }[]>
}

/** Finds instructions for tools of other servers, and names that imitate those of other servers. */
export function crossServerCheck(namesOf: () => ToolNames): (server: string, item: Item) => readonly Finding[] {
  let others: Others | undefined
  const current = (): Others => {
    if (others === undefined) {
      others = othersOf(namesOf())
      // Many definitions of one list are checked in a row.
      setImmediate(() => {
        others = undefined
      })
    }
    return others
  }
  return (server, item) => {
    const { mentions, names } = current()
    const { instructions } = scanned(item.definition)
    const shadowing = instructions.flatMap((instruction) => mentions.finding(server, instruction) ?? [])
    return item.kind === 'tool' ? [...shadowing, ...imitations(server, item.name, names)] : shadowing
  }
}

function othersOf(toolNames: ToolNames): Others {
  const mentions = new ToolMentions()
  const names = new Map<string, { readonly server: string; readonly name: string }[]>()
  for (const [server, tools] of toolNames) {
    mentions.add(server, serverSlug(server), tools)
    for (const name of tools) {
      const key = confusableKey(name)
      const same = names.get(key)
      if (same === undefined) names.set(key, [{ server, name }])
      else same.push({ server, name })
    }
  }
  return { mentions, names }
}

/** The same name on two servers is common; a name that only looks the same is not. */
function imitations(server: string, name: string, names: Others['names']): readonly Finding[] {
  const imitated = names.get(confusableKey(name))?.find((other) => other.server !== server && looksForged(name, other.name))
  if (imitated === undefined) return []
  const description = `imitates "${printable(imitated.name)}" of the server "${printable(imitated.server)}"`
  return [findingOf('clone', { path: 'name', excerpt: name, description })]
}

// Differences in case, hyphens and underscores are a matter of style.
const looksForged = (name: string, other: string): boolean => style(name) !== style(other) && !/^[\w-]*$/u.test(name)

const style = (name: string): string => name.toLowerCase().replaceAll(/[-_]+/gu, '')
