import { existsSync, readFileSync } from 'node:fs'
import { documentOf, type JsonSchema, type SearchDocument } from '@unfold-mcp/core'

/** A published catalogue with queries and the tools that each query needs. */
export interface RetrievalSet {
  readonly name: string
  readonly documents: readonly SearchDocument[]
  readonly queries: readonly RetrievalQuery[]
}

export interface RetrievalQuery {
  readonly query: string
  /** For each needed tool, the acceptable ids. */
  readonly needs: readonly (readonly string[])[]
}

export const setNames = ['livemcp', 'metatool', 'metatool-multi', 'sealtools', 'bfcl', 'toolalpaca'] as const

interface StoredTool {
  readonly id: string
  readonly server?: string
  readonly serverDescription?: string
  readonly name: string
  readonly description?: string
  readonly inputSchema?: JsonSchema
}

interface StoredQuery {
  readonly query: string
  readonly gold: readonly string[]
  readonly groups?: readonly (readonly string[])[]
}

/** Returns whether the folder contains the catalogues. */
export function hasSets(folder: URL): boolean {
  return setNames.every((name) => hasDocuments(folder, name))
}

/** Returns whether the folder contains the catalogue. */
export function hasDocuments(folder: URL, name: string): boolean {
  return existsSync(new URL(`${name}.tools.json`, folder))
}

/** Reads a set with every n-th query, so that about `most` remain. */
export function readSet(folder: URL, name: string, most: number): RetrievalSet {
  const stored: readonly StoredQuery[] = read(folder, `${name}.queries.json`)
  const step = Math.max(1, stored.length / most)
  const chosen = stored.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step))
  return {
    name,
    documents: readDocuments(folder, name),
    queries: chosen.map(({ query, gold, groups }) => ({ query, needs: groups ?? gold.map((id) => [id]) })),
  }
}

/** Returns the tools of a catalogue as documents. */
export function readDocuments(folder: URL, name: string): readonly SearchDocument[] {
  const stored: readonly StoredTool[] = read(folder, `${name}.tools.json`)
  return stored.map(({ id, name: tool, description, inputSchema, server, serverDescription }) =>
    documentOf(
      { name: tool, inputSchema: { ...inputSchema, type: 'object' }, ...(description !== undefined && { description }) },
      {
        id,
        source: server ?? id,
        ...(server !== undefined && { server }),
        ...(serverDescription !== undefined && { serverDescription }),
      },
    ),
  )
}

/** The user chose these files, so they are not validated. */
function read(folder: URL, file: string) {
  return JSON.parse(readFileSync(new URL(file, folder), 'utf8'))
}
