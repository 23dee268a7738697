import type { CallToolResult } from '@modelcontextprotocol/server'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'

/** Counts tokens with o200k_base; special tokens are treated as text. */
export const tokensOf = (text: string): number => countTokens(text, { disallowedSpecial: new Set() })

/** Counts the tokens of a list as compact JSON. */
export const listTokens = (tools: readonly object[]): number =>
  tools.reduce((sum, tool) => sum + tokensOf(JSON.stringify(tool)), 0)

/** Returns the text of a result that a model reads. */
export const textOf = ({ content }: CallToolResult): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')

/** Counts the tokens of a call: the arguments that the model writes and the text that it reads. */
export const callTokens = (args: object, result: CallToolResult): number =>
  tokensOf(JSON.stringify(args)) + tokensOf(textOf(result))

export const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length

export const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
