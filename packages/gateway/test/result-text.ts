import type { CallToolResult } from '@modelcontextprotocol/client'

/** The text of a result. */
export const textOf = ({ content }: CallToolResult): string =>
  content.map((block) => (block.type === 'text' ? block.text : `(${block.type})`)).join('\n')
