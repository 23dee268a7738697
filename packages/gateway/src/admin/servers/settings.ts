import { readFile } from 'node:fs/promises'
import { type Edit, EditError, jsonAt, planEdit, removeJson, setJson, writeEdit } from '@unfold-mcp/client/edit'
import { canonicalJson, isRecord, isSecretName, masked, maskedArgs, maskedText, maskedVariable } from '@unfold-mcp/core'
import { configJsonSchema } from '../../config/json-schema.ts'
import { ConfigError, problemLine } from '../../config/problem.ts'
import { parseConfig, validateText } from '../../config/read.ts'
import type { Environment } from '../../config/variables.ts'
import { permitted } from '../../consent/guarded.ts'
import { type Difference, diffDefinitions } from '../../trust/diff.ts'
import { parseBody } from '../body.ts'

/** Reply of `GET /api/upstreams/<name>/settings`: the entry of a server in the configuration file. */
export interface ServerSettings {
  readonly file: string
  /** Secrets are masked; a masked value that is sent back is not changed. */
  readonly settings: { readonly [key: string]: unknown }
  /** JSON Schema of the entry. */
  readonly schema: { readonly [keyword: string]: unknown }
}

/** One changed value: a key, or a variable or header (`['env', 'TOKEN']`). Without a value, it is removed. */
export interface SettingChange {
  readonly path: readonly string[]
  readonly value?: unknown
}

/** Body of `POST /api/upstreams/<name>/settings`. */
export interface SettingsRequest {
  readonly changes: readonly SettingChange[]
  /** Only reports what would change. */
  readonly dryRun?: boolean
}

/** Reply of `POST /api/upstreams/<name>/settings`. */
export interface SettingsResult {
  readonly differences: readonly Difference[]
  /** A person must approve the edit before it applies: it starts or connects to something else, or weakens a protection. */
  readonly needsApproval: boolean
  readonly isWritten: boolean
}

/** An edit that was refused, with a message for the person who made it. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}

const tables: readonly string[] = ['env', 'headers']
const maxChanges = 200

/** Reads the changes from the body of a request; `undefined` if they are invalid. */
export function parseSettings(body: Uint8Array | undefined): SettingsRequest | undefined {
  const { changes, dryRun } = parseBody(body)
  if (!Array.isArray(changes) || changes.length === 0 || changes.length > maxChanges) return undefined
  if (dryRun !== undefined && typeof dryRun !== 'boolean') return undefined
  if (!changes.every(isChange)) return undefined
  return { changes, ...(dryRun !== undefined && { dryRun }) }
}

function isChange(value: unknown): value is SettingChange {
  if (!isRecord(value) || !Array.isArray(value.path)) return false
  const [key, name, ...others] = value.path as readonly unknown[]
  if (typeof key !== 'string' || others.length > 0) return false
  return name === undefined || (typeof name === 'string' && tables.includes(key))
}

/** Edits the entries of servers in the configuration file. The rest of the file, such as comments, stays as it is. */
export class SettingsEditor {
  readonly #file: string
  readonly #environment: Environment

  constructor(file: string, environment: Environment) {
    this.#file = file
    this.#environment = environment
  }

  /** `undefined` if the file has no such server. */
  async read(server: string): Promise<ServerSettings | undefined> {
    const settings = entryIn(await readFile(this.#file, 'utf8'), server)
    return settings === undefined
      ? undefined
      : { file: this.#file, settings: maskedSettings(settings), schema: schemaOf(settings) }
  }

  /** Writes the changes. Throws `SettingsError` if the configuration would be invalid or the file cannot be edited. */
  async write(server: string, { changes, dryRun = false }: SettingsRequest): Promise<SettingsResult> {
    const edit: Edit = (text) => this.#edited(text, server, changes)
    try {
      const plan = await planEdit(this.#file, edit)
      const [before, after] = [entryIn(plan.before ?? '', server) ?? {}, entryIn(plan.after, server) ?? {}]
      const [old, now] = [plan.before ?? '', plan.after].map((text) => validateText(text, this.#file).written)
      const needsApproval =
        old !== undefined &&
        now !== undefined &&
        permitted(old, now).waiting.some(({ path: [section, name] }) => section === 'mcpServers' && name === server)
      if (!dryRun && plan.isChanged) await writeEdit(plan)
      return {
        differences: changedSecrets(diffDefinitions(maskedSettings(before), maskedSettings(after)), before, after),
        needsApproval,
        isWritten: !dryRun && plan.isChanged,
      }
    } catch (error) {
      if (error instanceof ConfigError)
        throw new SettingsError(`The configuration would be invalid: ${error.problems.map(problemLine).join('; ')}`)
      if (error instanceof EditError) throw new SettingsError(error.message)
      throw error
    }
  }

  #edited(text: string, server: string, changes: readonly SettingChange[]): string {
    const before = entryIn(text, server)
    if (before === undefined) throw new EditError(`It has no server "${server}".`)
    const after = changes.reduce((now, { path, value }) => {
      const full = ['mcpServers', server, ...path]
      return value === undefined ? removeJson(full)(now) : setJson(full, unmasked(value, valueAt(before, path), path))(now)
    }, text)
    parseConfig(after, { file: this.#file, environment: this.#environment, isEdit: true })
    return after
  }
}

function entryIn(text: string, server: string): { readonly [key: string]: unknown } | undefined {
  const servers = jsonAt(text, ['mcpServers'])
  const entry = isRecord(servers) && Object.hasOwn(servers, server) ? servers[server] : undefined
  return isRecord(entry) ? entry : undefined
}

const valueAt = (settings: { readonly [key: string]: unknown }, [key = '', name]: readonly string[]): unknown => {
  const value = settings[key]
  if (name === undefined) return value
  return isRecord(value) ? value[name] : undefined
}

/** The entry as the page shows it. */
function maskedSettings(settings: { readonly [key: string]: unknown }): { readonly [key: string]: unknown } {
  return Object.fromEntries(Object.entries(settings).map(([key, value]) => [key, maskedValue(value, [key])]))
}

function maskedValue(value: unknown, path: readonly string[]): unknown {
  const [key = '', name = ''] = path
  if (isRecord(value))
    return Object.fromEntries(Object.entries(value).map(([inner, each]) => [inner, maskedValue(each, [...path, inner])]))
  if (Array.isArray(value)) return key === 'args' ? maskedArgs(value.map(String)) : value.map((each) => maskedValue(each, path))
  if (typeof value !== 'string') return value
  if (key === 'env') return maskedVariable(name, value)
  if (key === 'headers') return masked(value)
  return isSecretName(path.at(-1) ?? '') ? masked(value) : maskedText(value)
}

/** Puts the stored value where the page sent back the mask that it was shown. */
function unmasked(value: unknown, stored: unknown, path: readonly string[]): unknown {
  if (stored === undefined) return value
  const shown = maskedValue(stored, path)
  if (canonicalJson(value) === canonicalJson(shown)) return stored
  if (Array.isArray(value) && Array.isArray(stored) && Array.isArray(shown)) return unmaskedList(value, stored, shown)
  if (isRecord(value) && isRecord(stored))
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, unmasked(each, stored[key], [...path, key])]))
  return value
}

/** Masks look alike, so after items were added or removed, only one whose value is certain is put back. */
function unmaskedList(value: readonly unknown[], stored: readonly unknown[], shown: readonly unknown[]): readonly unknown[] {
  return value.map((each, index) => {
    if (typeof each !== 'string' || !each.includes('***')) return each
    if (value.length === stored.length && shown[index] === each) return stored[index]
    const candidates = new Set(stored.filter((_, at) => shown[at] === each))
    if (candidates.size > 1)
      throw new EditError(`Several masked values could be meant by "${each}". Enter them again, or edit the file.`)
    return candidates.size === 1 ? [...candidates][0] : each
  })
}

/** A secret that was replaced by another one looks the same behind its mask, but the difference must be shown. */
function changedSecrets(
  differences: readonly Difference[],
  before: { readonly [key: string]: unknown },
  after: { readonly [key: string]: unknown },
): readonly Difference[] {
  const shown = new Set(differences.map(({ path }) => path.split('.')[0]))
  const hidden = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (key) => !shown.has(key) && canonicalJson(before[key] ?? null) !== canonicalJson(after[key] ?? null),
  )
  return [...differences, ...hidden.map((path) => ({ path, before: '***', after: '*** (another value)' }))]
}

/** The schema of an entry of this kind: a command or an address. */
function schemaOf(settings: { readonly [key: string]: unknown }): ServerSettings['schema'] {
  const { properties, definitions } = configJsonSchema() as {
    readonly properties: { readonly mcpServers: { readonly additionalProperties: { readonly anyOf: readonly Branch[] } } }
    readonly definitions?: object
  }
  const branches = properties.mcpServers.additionalProperties.anyOf
  const isCommand = 'command' in settings
  const branch = branches.find((each) => 'command' in (each.properties ?? {}) === isCommand) ?? {}
  return { ...branch, ...(definitions !== undefined && { definitions }) }
}

type Branch = { readonly properties?: object }
