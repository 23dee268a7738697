import { isRecord } from '@unfold-mcp/core'
import { type Finding, findingOf, type Rule } from '../poisoning/finding.ts'
import type { Accepted, Item } from './records/record.ts'
import { scanned } from './scanned.ts'

/** Findings that need the tools of other servers: mentions of them, and imitations. */
export type CrossServerCheck = (item: Item) => readonly Finding[]

// A command in a new tool's description is common ("run npm install first") and only reported.
const holdsNewTools: ReadonlySet<Rule> = new Set([
  'overriding',
  'secrecy',
  'posing',
  'secrets',
  'hidden',
  'shadowing',
  'clone',
  'unread',
])

/**
 * Finds what is hazardous about a new or changed definition. Text that was accepted before is not reported again. Rules about
 * parameters and annotations compare with the accepted definition, so they never apply to a new one.
 */
export function hazardsOf(item: Item, previous: Accepted | undefined, crossServer: CrossServerCheck): readonly Finding[] {
  const found = [...scanned(item.definition).findings, ...crossServer(item)]
  if (previous === undefined) return found.filter(({ rule }) => holdsNewTools.has(rule))
  const known = new Set([...scanned(previous.definition).findings, ...crossServer(previous)].map(identityOf))
  return [
    ...found.filter((each) => !known.has(identityOf(each))),
    ...milderAnnotations(previous.definition, item.definition),
    ...sensitiveParameters(previous.definition, item.definition),
  ]
}

const identityOf = ({ rule, excerpt }: Finding): string => `${rule} ${excerpt}`

/** Annotations that became milder while the tool accepts more than before. */
function milderAnnotations(before: object, after: object): readonly Finding[] {
  const [old, now] = [annotationsOf(before), annotationsOf(after)]
  const milder = [
    ...(now.readOnlyHint === true && old.readOnlyHint !== true ? ['readOnlyHint'] : []),
    ...(old.destructiveHint === true && now.destructiveHint !== true ? ['destructiveHint'] : []),
  ]
  if (milder.length === 0 || parametersOf(after).size <= parametersOf(before).size) return []
  const excerpt = milder.map((key) => `${key}: ${String(old[key])} → ${String(now[key])}`).join(', ')
  return [findingOf('milder', { path: 'annotations', excerpt })]
}

const sensitive =
  /conversation|chat.?history|message.?history|system.?prompt|\bcontext\b|api.?key|access.?key|private.?key|\btoken|password|passphrase|secret|credential|cookie|\bssh\b|\bpath\b|\bfile.?(?:name|path)?\b|\bfolder\b|director(?:y|ies)/iu

/** New parameters that ask for the conversation, for keys or for paths. */
function sensitiveParameters(before: object, after: object): readonly Finding[] {
  const known = parametersOf(before)
  return [...parametersOf(after)].flatMap(([path, { name, description }]) => {
    if (known.has(path)) return []
    const text = [name.replaceAll(/[_-]/gu, ' ').replaceAll(/([a-z])([A-Z])/gu, '$1 $2'), description].find((each) =>
      sensitive.test(each),
    )
    return text === undefined
      ? []
      : [findingOf('parameter', { path, excerpt: description === '' ? name : `${name}: ${description}` })]
  })
}

interface Parameter {
  readonly name: string
  readonly description: string
}

const maxParameters = 2_000

/** All properties of the input schema at any depth, by path. */
function parametersOf(definition: object): ReadonlyMap<string, Parameter> {
  const found = new Map<string, Parameter>()
  // Not recursive: the server chooses the depth.
  const pending: { readonly path: string; readonly schema: unknown }[] = [
    { path: 'inputSchema', schema: (definition as { readonly inputSchema?: unknown }).inputSchema },
  ]
  for (let next = pending.pop(); next !== undefined && found.size < maxParameters; next = pending.pop()) {
    const { path, schema } = next
    if (Array.isArray(schema)) for (const [at, item] of schema.entries()) pending.push({ path: `${path}[${at}]`, schema: item })
    if (!isRecord(schema)) continue
    for (const [key, value] of Object.entries(schema)) {
      if (key !== 'properties' || !isRecord(value)) {
        pending.push({ path: `${path}.${key}`, schema: value })
        continue
      }
      for (const [name, property] of Object.entries(value)) {
        const below = `${path}.properties.${name}`
        const description = isRecord(property) && typeof property.description === 'string' ? property.description : ''
        found.set(below, { name, description })
        pending.push({ path: below, schema: property })
      }
    }
  }
  return found
}

function annotationsOf(definition: object): { readonly [key: string]: unknown } {
  const { annotations } = definition as { readonly annotations?: unknown }
  return isRecord(annotations) ? annotations : {}
}
