import { nearest, nearestHint } from '@unfold-mcp/core'
import { type ClientName, type Place, placesOf } from '../config/places.ts'
import type { Surroundings } from '../config/surroundings.ts'
import type { Edit } from '../edit/edit.ts'
import { jsonAt, removeJson, setJson } from '../edit/json.ts'
import { removeTomlTable, setTomlTable, tomlTable } from '../edit/toml.ts'
import { usageError } from '../exit.ts'

/** What the gateway is called in the configuration of a client. */
export const entryName = 'unfold'

/** How a client reaches the gateway: at its address, or by starting one. */
export type Way =
  | { readonly url: string; readonly headers: Record<string, string> }
  | { readonly command: string; readonly args: readonly string[] }

type Entry = { readonly [key: string]: unknown }

/** A program that can be told of the gateway. */
export interface Client {
  readonly name: string
  readonly title: string
  /** Its own file, for all projects of its user. */
  readonly file: string
  /** Whether it can be given an address. */
  readonly takesAddress: boolean
  set(way: Way): Edit
  readonly remove: Edit
  /** What stands in a text of its file for the gateway. */
  entry(text: string): unknown
  /** What its user does so that it takes notice. */
  readonly next: string
}

interface Kind {
  readonly place: ClientName
  readonly title: string
  /** How it writes an address; nothing where it knows only commands. */
  readonly address?: (url: string, headers: Record<string, string>) => Entry
  /** Where its servers are; `mcpServers` unless told. */
  readonly section?: string
  readonly extra?: Entry
  readonly next: string
}

const withHeaders = (headers: Record<string, string>, key = 'headers'): Entry =>
  Object.keys(headers).length === 0 ? {} : { [key]: headers }

const restart = 'Restart it.'

// Each writes the same in its own words; these are the words of its documentation.
const kinds: { readonly [name: string]: Kind } = {
  claude: {
    place: 'claude-code',
    title: 'Claude Code',
    address: (url, headers) => ({ type: 'http', url, ...withHeaders(headers) }),
    next: 'Restart it, or reconnect with /mcp.',
  },
  'claude-desktop': { place: 'claude-desktop', title: 'Claude Desktop', next: 'Quit it, and start it again.' },
  cursor: { place: 'cursor', title: 'Cursor', address: (url, headers) => ({ url, ...withHeaders(headers) }), next: restart },
  vscode: {
    place: 'vscode',
    title: 'VS Code',
    section: 'servers',
    address: (url, headers) => ({ type: 'http', url, ...withHeaders(headers) }),
    next: 'Run "MCP: List Servers" in it and start unfold there.',
  },
  codex: {
    place: 'codex',
    title: 'Codex',
    section: 'mcp_servers',
    address: (url, headers) => ({ url, ...withHeaders(headers, 'http_headers') }),
    next: restart,
  },
  gemini: {
    place: 'gemini',
    title: 'Gemini CLI',
    address: (httpUrl, headers) => ({ httpUrl, ...withHeaders(headers) }),
    next: restart,
  },
  windsurf: {
    place: 'windsurf',
    title: 'Windsurf',
    address: (serverUrl, headers) => ({ serverUrl, ...withHeaders(headers) }),
    next: 'Refresh its list of servers.',
  },
  kiro: { place: 'kiro', title: 'Kiro', address: (url, headers) => ({ url, ...withHeaders(headers) }), next: restart },
  copilot: {
    place: 'copilot',
    title: 'Copilot CLI',
    address: (url, headers) => ({ type: 'http', url, ...withHeaders(headers) }),
    extra: { tools: ['*'] },
    next: restart,
  },
}

/** The client of this name. */
export function clientNamed(name: string | undefined, surroundings: Surroundings): Client {
  const known = Object.keys(kinds)
  const asked = name === 'claude-code' ? 'claude' : (name ?? '')
  const kind = Object.hasOwn(kinds, asked) ? kinds[asked] : undefined
  const place = placesOf(surroundings).find(({ client, trust }) => client === kind?.place && trust === 'user')
  if (kind === undefined || place === undefined)
    throw usageError(
      `${name === undefined ? 'Which client?' : `There is no client "${name}".${nearestHint(nearest(name, known))}`} Known are ${known.join(', ')}.`,
      { known },
    )
  return clientOf(asked, kind, place)
}

function clientOf(name: string, { title, section = 'mcpServers', address, extra, next }: Kind, { file, shape }: Place): Client {
  const isToml = shape === 'codex'
  const path = [section, entryName]
  const entryFor = (way: Way): Entry => {
    if (!('url' in way)) return { ...(name === 'vscode' && { type: 'stdio' }), ...way, ...extra }
    return { ...address?.(way.url, way.headers), ...extra }
  }
  return {
    name,
    title,
    file,
    takesAddress: address !== undefined,
    set: (way) => (isToml ? setTomlTable(section, entryName, entryFor(way)) : setJson(path, entryFor(way))),
    remove: isToml ? removeTomlTable(section, entryName) : removeJson(path),
    entry: (text) => (isToml ? tomlTable(text, section, entryName) : jsonAt(text, path)),
    next,
  }
}
