import { isRecord, isTool, type Tool } from '@unfold-mcp/core'
import { errorMessage } from '../../base/error-message.ts'
import { type CachedUpstream, type CatalogStore, parseServerDetails } from '../../stores/catalog.ts'
import { type Redis, RedisUnavailable, type Script } from '../redis.ts'

const format = 1

// A write carries the version that its writer read. Otherwise a replica that was suspended could replace a newer list by its old
// one. Equal texts need no order. KEYS: values, versions. ARGV: name, version read, text.
const replace: Script = {
  lua: `
local version = redis.call('HGET', KEYS[2], ARGV[1]) or '0'
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[3] then return { 'same', version } end
if version ~= ARGV[2] then return { 'stale', version } end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return { 'written', tostring(redis.call('HINCRBY', KEYS[2], ARGV[1], 1)) }`,
}

const read: Script = {
  lua: `return { redis.call('HGET', KEYS[1], ARGV[1]), redis.call('HGET', KEYS[2], ARGV[1]) or '0' }`,
}

// The version stays, so that a suspended replica cannot bring the list back.
const remove: Script = {
  lua: `
if redis.call('HDEL', KEYS[1], ARGV[1]) == 1 then redis.call('HINCRBY', KEYS[2], ARGV[1], 1) end
return { 'removed', redis.call('HGET', KEYS[2], ARGV[1]) or '0' }`,
}

export interface RedisCatalogOptions {
  readonly report: (message: string) => void
  /** Called when the list of this replica may be older than the stored one: the server has to be asked again. */
  readonly onStale: (upstream: string) => void
}

/** The catalogue in Redis. It never goes back in time. It is only a cache: without Redis it is empty, and writes are skipped. */
export class RedisCatalog implements CatalogStore {
  readonly #redis: Redis
  readonly #options: RedisCatalogOptions
  /** Versions as read or written last, by kind and upstream. */
  readonly #versions = new Map<string, string>()
  #writing: Promise<unknown> = Promise.resolve()

  constructor(redis: Redis, options: RedisCatalogOptions) {
    this.#redis = redis
    this.#options = options
  }

  async tools(upstream: string): Promise<readonly Tool[]> {
    return (await this.load(upstream))?.tools ?? []
  }

  async load(upstream: string): Promise<CachedUpstream | undefined> {
    const value = await this.#read('tools', upstream)
    if (!isRecord(value) || !Array.isArray(value.tools)) return undefined
    return { tools: value.tools.filter((tool) => isTool(tool)), ...parseServerDetails(value.details) }
  }

  async replaceTools(upstream: string, tools: readonly Tool[], details = {}): Promise<void> {
    await this.#replace('tools', upstream, { tools, details })
  }

  async documents(upstream: string): Promise<unknown> {
    const value = await this.#read('documents', upstream)
    return isRecord(value) ? value.documents : undefined
  }

  async replaceDocuments(upstream: string, documents: object): Promise<void> {
    await this.#replace('documents', upstream, { documents })
  }

  async remove(upstream: string): Promise<void> {
    for (const kind of kinds) await this.#run(remove, kind, upstream)
  }

  async upstreams(): Promise<readonly string[]> {
    const [key = ''] = this.#keys('tools')
    const names = await this.#redis.command('HKEYS', key).catch((error: unknown) => this.#failed(error))
    return Array.isArray(names) ? names.flatMap((name) => nameIn(String(name))).toSorted() : []
  }

  async close(): Promise<void> {
    // The caller closes the connection.
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #keys(kind: Kind): readonly string[] {
    const key = `${this.#redis.prefix}{catalog}:${kind}`
    return [key, `${key}:versions`]
  }

  async #read(kind: Kind, upstream: string): Promise<unknown> {
    const text = await this.#run(read, kind, upstream)
    return typeof text === 'string' ? parse(text) : undefined
  }

  async #replace(kind: Kind, upstream: string, value: object): Promise<void> {
    const text = JSON.stringify({ format, ...value })
    // One after the other: each carries the version of the one before.
    const writing = this.#writing.then(() =>
      this.#run(replace, kind, upstream, this.#versions.get(`${kind} ${upstream}`) ?? '0', text),
    )
    this.#writing = writing
    if ((await writing) === 'stale') this.#options.onStale(upstream)
  }

  /** Runs a script that returns a value and the version, which is remembered. */
  async #run(script: Script, kind: Kind, upstream: string, ...args: readonly string[]): Promise<unknown> {
    try {
      const reply = await this.#redis.script(script, this.#keys(kind), [JSON.stringify(upstream), ...args])
      const [value, version] = Array.isArray(reply) ? reply : []
      this.#versions.set(`${kind} ${upstream}`, String(version ?? '0'))
      return value
    } catch (error) {
      return this.#failed(error)
    }
  }

  #failed(error: unknown): undefined {
    // The connection reports that it does not work.
    if (!(error instanceof RedisUnavailable)) this.#options.report(`The catalogue in Redis is unusable: ${errorMessage(error)}`)
    return undefined
  }
}

const kinds = ['tools', 'documents'] as const

type Kind = (typeof kinds)[number]

/** Names are JSON, because lone surrogates are not UTF-8. */
function nameIn(text: string): readonly string[] {
  const name = parsedJson(text)
  return typeof name === 'string' ? [name] : []
}

/** A foreign or damaged value counts as absent. */
function parse(text: string): unknown {
  const value = parsedJson(text)
  return isRecord(value) && value.format === format ? value : undefined
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
