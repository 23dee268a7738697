import * as z from 'zod'
import { digestsOf } from '../digest.ts'
import { type Accepted, type Blocked, type Item, itemKinds, type ServerRecord } from './record.ts'

/** Decisions of several servers, for another machine. */
export type TrustRecords = ReadonlyMap<string, ServerRecord>

const format = 'unfold-trust'
const version = 1

const item = z.strictObject({
  kind: z.enum(itemKinds),
  name: z.string(),
  definition: z.record(z.string(), z.unknown()),
  at: z.int().nonnegative(),
})
const digest = z.string().regex(/^[0-9a-f]{64}$/u, 'must be a SHA-256 digest')

const exportFile = z.strictObject({
  format: z.literal(format),
  version: z.literal(version, `must be ${version}: another version of unfold wrote the file`),
  servers: z.record(
    z.string(),
    z.strictObject({
      baseline: z.array(z.enum(itemKinds)),
      accepted: z.array(item.extend({ digest, by: z.enum(['baseline', 'watch', 'person']) })),
      blocked: z.array(item.extend({ body: digest })),
    }),
  ),
})

/** The text of an exported file. What was run is not part of it: that differs between machines. */
export function formatRecords(records: TrustRecords): string {
  const servers = [...records].map(([server, { baseline, accepted, blocked }]) => [server, { baseline, accepted, blocked }])
  return `${JSON.stringify({ format, version, servers: Object.fromEntries(servers) }, undefined, 2)}\n`
}

/** Reads an exported file. Throws an error that names the problem; a file is valid as a whole or not at all. */
export function parseRecords(text: string): TrustRecords {
  const parsed = exportFile.safeParse(parseJson(text))
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw new Error(`${issue?.path.join('.') || 'the file'}: ${issue?.message ?? 'invalid'}`)
  }
  const records = new Map(Object.entries(parsed.data.servers))
  for (const [server, { accepted, blocked }] of records)
    for (const each of [...accepted, ...blocked])
      if (!isGenuine(each))
        throw new Error(`servers.${server}: the digest or the name of ${each.kind} "${each.name}" does not match`)
  return records
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('the file is not JSON')
  }
}

function isGenuine(each: (Accepted | Blocked) & { readonly definition: object }): boolean {
  const digests = digestsOf(each.definition)
  const isSame = 'body' in each ? each.body === digests.body : each.digest === digests.definition
  return isSame && nameIn(each) === each.name
}

function nameIn({ kind, definition }: Item): unknown {
  if (kind === 'instructions') return ''
  const { name, uriTemplate } = definition as { readonly name?: unknown; readonly uriTemplate?: unknown }
  return kind === 'template' ? uriTemplate : name
}

/** Adds the decisions of another machine. A block wins over an approval. */
export function mergeRecords(own: ServerRecord, other: ServerRecord): ServerRecord {
  const blocked = new Map([...other.blocked, ...own.blocked].map((each) => [`${each.kind} ${each.body}`, each]))
  const accepted = new Map<string, Accepted>()
  // Own decisions last: the latest definition of a name is the one that changes are compared with.
  for (const each of [...other.accepted, ...own.accepted]) {
    const key = `${each.kind} ${each.digest}`
    const known = accepted.get(key)
    accepted.delete(key)
    accepted.set(key, known?.by === 'person' ? known : each)
  }
  return {
    ...own,
    baseline: [...new Set([...own.baseline, ...other.baseline])],
    accepted: [...accepted.values()].filter(({ kind, definition }) => !blocked.has(`${kind} ${digestsOf(definition).body}`)),
    blocked: [...blocked.values()],
  }
}
