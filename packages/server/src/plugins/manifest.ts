import { isRecord } from '@unfold-mcp/core'

/** What `plugin.json` says of the plugin in its folder. */
export interface Manifest {
  readonly name?: string
  /** The module, from the plugin's folder. */
  readonly main?: string
  readonly group?: string
  readonly disabled?: boolean
  /** The definitions of the tools, if the module holds their handlers alone. */
  readonly tools?: readonly Record<string, unknown>[]
}

/** The largest manifest that is read. */
export const mostManifestBytes = 1_000_000

/** Reads a manifest; throws in words when it is none. */
export function manifestOf(text: string): Manifest {
  const value = parsed(text)
  if (!isRecord(value)) throw new Error('plugin.json must hold an object')
  const { name, main, group, disabled, tools } = value
  for (const [field, given] of Object.entries({ name, main, group }))
    if (given !== undefined && (typeof given !== 'string' || given === ''))
      throw new Error(`"${field}" in plugin.json must be a text`)
  if (disabled !== undefined && typeof disabled !== 'boolean') throw new Error('"disabled" in plugin.json must be true or false')
  if (tools !== undefined && !(Array.isArray(tools) && tools.every(isTool)))
    throw new Error('"tools" in plugin.json must be a list of objects, each with a name')
  return {
    ...(typeof name === 'string' && { name }),
    ...(typeof main === 'string' && { main }),
    ...(typeof group === 'string' && { group }),
    ...(disabled === true && { disabled }),
    ...(tools !== undefined && { tools: tools as readonly Record<string, unknown>[] }),
  }
}

const isTool = (tool: unknown): boolean => isRecord(tool) && typeof tool.name === 'string'

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/u, ''))
  } catch (error) {
    throw new Error(`plugin.json is not JSON: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}
