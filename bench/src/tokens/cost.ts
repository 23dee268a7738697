import type { CallToolResult } from '@modelcontextprotocol/server'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'

/** What a text costs by o200k_base; words that happen to be special to the model are words here. */
export const tokensOf = (text: string): number => countTokens(text, { disallowedSpecial: new Set() })

/** What a list costs, as compact JSON. */
export const listTokens = (tools: readonly object[]): number =>
  tools.reduce((sum, tool) => sum + tokensOf(JSON.stringify(tool)), 0)

/** What a model reads of a result. */
export const textOf = ({ content }: CallToolResult): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')

/** What a call costs: the arguments that the model writes and the text that it reads. */
export const callTokens = (args: object, result: CallToolResult): number =>
  tokensOf(JSON.stringify(args)) + tokensOf(textOf(result))

export const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length

export const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
