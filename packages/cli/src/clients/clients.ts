import { existsSync } from 'node:fs'
import { type Edit, EditError, jsonAt, removeJson, setJson } from '@unfold-mcp/client/edit'
import {
  type ClientKind,
  clientKinds,
  type ClientEntry as Entry,
  nearest,
  nearestHint,
  type PastedKind,
  pastedKinds,
} from '@unfold-mcp/core'
import { usageError } from '../base/exit.ts'
import { formatOf } from '../config/document.ts'
import { configLocations } from '../config/locations.ts'
import type { System } from '../config/system.ts'
import { removeTomlTable, setTomlTable, tomlTable } from '../edit/toml.ts'
import { removeYaml, removeYamlItem, setYaml, setYamlItem, yamlEntry, yamlItem } from '../edit/yaml.ts'

/** Name of the gateway's entry in client configurations. */
export const entryName = 'unfold'

export type EntryTarget =
  | { readonly url: string; readonly headers: Readonly<Record<string, string>> }
  | { readonly command: string; readonly args: readonly string[]; readonly env?: Readonly<Record<string, string>> }

/** `loaded`: the client must not defer our tools. `deferred`: the client decides. */
export type Loading = 'loaded' | 'deferred' | 'unset'

export interface Client {
  readonly name: string
  readonly title: string
  /** Value of `?host=` in the URL. */
  readonly host: string
  /** User-level configuration file. */
  readonly file: string
  readonly takesAddress: boolean
  set(target: EntryTarget, loading?: Loading): Edit
  readonly remove: Edit
  entry(text: string): unknown
  /** How to make the client load the entry. */
  readonly next: string
}

export interface PastedClient extends PastedKind {
  readonly name: string
}

const aliases: { readonly [name: string]: string } = {
  'claude-code': 'claude',
  'gemini-cli': 'gemini',
  'qwen-code': 'qwen',
  'copilot-cli': 'copilot',
  'kimi-code': 'kimi',
  'vs-code': 'vscode',
  'lm-studio': 'lmstudio',
}

export function clientNamed(name: string | undefined, system: System): Client | PastedClient {
  const known = [...Object.keys(clientKinds), ...Object.keys(pastedKinds)]
  const canonical = name !== undefined && Object.hasOwn(aliases, name) ? (aliases[name] ?? name) : (name ?? '')
  const pasted = Object.hasOwn(pastedKinds, canonical) ? pastedKinds[canonical] : undefined
  if (pasted !== undefined) return { name: canonical, ...pasted }
  const kind = Object.hasOwn(clientKinds, canonical) ? clientKinds[canonical] : undefined
  const file = kind === undefined ? undefined : fileOf(kind, system)
  if (kind === undefined || file === undefined)
    throw usageError(
      `${name === undefined ? 'Name a client.' : `Unknown client "${name}".${nearestHint(nearest(name, known))}`} Known clients: ${known.join(', ')}.`,
      { known },
    )
  return clientOf(canonical, kind, file)
}

export const isPasted = (client: Client | PastedClient): client is PastedClient => 'where' in client

// VS Code and VS Code Insiders are separate programs; other clients use one of several files.
const separatePrograms: ReadonlySet<string> = new Set(['vscode'])

function fileOf({ place }: ClientKind, system: System): string | undefined {
  const files = configLocations(system)
    .filter(({ client, trust }) => client === place && trust === 'user')
    .map(({ file }) => file)
  const present = separatePrograms.has(place) ? undefined : files.find((file) => existsSync(file))
  return present ?? files[0]
}

function clientOf(name: string, kind: ClientKind, file: string): Client {
  const { title, host, section = 'mcpServers', address, command = plainCommand, next } = kind
  const path = [section, entryName]
  const entryFor = (target: EntryTarget, loading: Loading): Entry => ({
    ...('url' in target ? address?.(target.url, target.headers) : command(target.command, target.args)),
    ...('env' in target && target.env !== undefined && { [kind.variables ?? 'env']: target.env }),
    ...(loading !== 'unset' && kind[loading]),
  })
  const editors = {
    json: {
      set: (entry: Entry) => setJson(path, entry),
      remove: removeJson(path),
      entry: (text: string) => jsonAt(text, path),
    },
    toml: {
      set: (entry: Entry) => setTomlTable(section, entryName, entry),
      remove: removeTomlTable(section, entryName),
      entry: (text: string) => tomlTable(text, section, entryName),
    },
    yaml: {
      set: (entry: Entry) => setYaml(section, entryName, entry),
      remove: removeYaml(section, entryName),
      entry: (text: string) => yamlEntry(text, section, entryName),
    },
    list: {
      set: (entry: Entry) => inExistingFile(title, setYamlItem(section, entryName, entry)),
      remove: removeYamlItem(section, entryName),
      entry: (text: string) => yamlItem(text, section, entryName),
    },
  }
  const { set, remove, entry } = editors[kind.isList === true ? 'list' : formatOf(file)]
  return {
    name,
    title,
    host,
    file,
    takesAddress: address !== undefined,
    set: (target, loading = 'unset') => set(entryFor(target, loading)),
    remove,
    entry,
    next,
  }
}

const inExistingFile =
  (title: string, edit: Edit): Edit =>
  (text) => {
    if (text.trim() === '') throw new EditError(`${title} has not created it yet. Start ${title} once, then connect again.`)
    return edit(text)
  }

const plainCommand = (command: string, args: readonly string[]): Entry => ({ command, args })
