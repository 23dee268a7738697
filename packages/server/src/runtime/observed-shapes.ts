import type { CallToolResult } from '@modelcontextprotocol/server'
import {
  type JsonSchema,
  mergedShapes,
  type ObservedShape,
  schemaOfShape,
  shapeOf,
  type Tool,
  toolFingerprint,
} from '@unfold-mcp/core'
import { resultValue } from '../tool/result-value.ts'

// Later results cost nothing: a shape that eight results agree on rarely changes.
const resultsPerTool = 8
const maxTools = 500
const maxTextLength = 64_000

/**
 * Shapes of the results of tools without an output schema. Each reader learns only from its own results: property names may be
 * data, and a tool may return more to one principal than to another. A changed definition starts again.
 */
export class ObservedShapes {
  // In the order of use, the oldest first.
  readonly #known = new Map<string, { readonly shape: ObservedShape; readonly results: number }>()

  /** Learns from a successful result. */
  observe(reader: string, tool: Tool, result: CallToolResult): void {
    if (tool.outputSchema !== undefined || result.isError === true) return
    const key = keyOf(reader, tool)
    const known = this.#known.get(key)
    if (known !== undefined && known.results >= resultsPerTool) return
    if (result.structuredContent === undefined && !hasShortText(result)) return
    const shape = shapeOf(resultValue(result))
    this.#known.delete(key)
    this.#known.set(key, {
      shape: known === undefined ? shape : mergedShapes(known.shape, shape),
      results: (known?.results ?? 0) + 1,
    })
    const [oldest] = this.#known.keys()
    if (this.#known.size > maxTools && oldest !== undefined) this.#known.delete(oldest)
  }

  /** The schema of what this reader has received from the tool. */
  schemaOf(reader: string, tool: Tool): JsonSchema | undefined {
    const known = this.#known.get(keyOf(reader, tool))
    return known === undefined ? undefined : schemaOfShape(known.shape)
  }

  forget(reader: string): void {
    for (const key of this.#known.keys()) if (key.startsWith(prefixOf(reader))) this.#known.delete(key)
  }
}

const prefixOf = (reader: string): string => `${JSON.stringify(reader)} `

const keyOf = (reader: string, tool: Tool): string => `${prefixOf(reader)}${tool.name} ${toolFingerprint(tool)}`

const hasShortText = ({ content }: CallToolResult): boolean =>
  content.length > 0 &&
  content.reduce((sum, block) => sum + (block.type === 'text' ? block.text.length : maxTextLength + 1), 0) <= maxTextLength
