import { isRecord } from '@unfold-mcp/core'
import { errorMessage } from '../tool/report.ts'

/** Contents of `plugin.json`. */
export interface Manifest {
  readonly name?: string
  /** Path of the module, relative to the plugin's folder. */
  readonly main?: string
  readonly group?: string
  readonly disabled?: boolean
  /** Tool definitions, if the module exports only the handlers. */
  readonly tools?: readonly Record<string, unknown>[]
}

export const maxManifestBytes = 1_000_000

/** Parses a manifest; throws if it is invalid. */
export function parseManifest(text: string): Manifest {
  const value = parseJson(text)
  if (!isRecord(value)) throw new Error('plugin.json must be a JSON object')
  const { name, main, group, disabled, tools } = value
  for (const [field, entry] of Object.entries({ name, main, group }))
    if (entry !== undefined && (typeof entry !== 'string' || entry === ''))
      throw new Error(`"${field}" in plugin.json must be a non-empty string`)
  if (disabled !== undefined && typeof disabled !== 'boolean') throw new Error('"disabled" in plugin.json must be true or false')
  if (tools !== undefined && !(Array.isArray(tools) && tools.every(isTool)))
    throw new Error('"tools" in plugin.json must be an array of objects, each with a name')
  return {
    ...(typeof name === 'string' && { name }),
    ...(typeof main === 'string' && { main }),
    ...(typeof group === 'string' && { group }),
    ...(disabled === true && { disabled }),
    ...(tools !== undefined && { tools: tools as readonly Record<string, unknown>[] }),
  }
}

const isTool = (tool: unknown): boolean => isRecord(tool) && typeof tool.name === 'string'

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/u, ''))
  } catch (error) {
    throw new Error(`plugin.json is not valid JSON: ${errorMessage(error)}`, { cause: error })
  }
}
