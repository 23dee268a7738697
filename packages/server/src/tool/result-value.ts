import type { CallToolResult } from '@modelcontextprotocol/server'

/** What a script receives from a call: structured content, else the value of a JSON text, else the text, else all content. */
export function resultValue({ structuredContent, content }: Pick<CallToolResult, 'structuredContent' | 'content'>): unknown {
  if (structuredContent !== undefined) return structuredContent
  const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
  if (texts.length < content.length) return { content }
  return jsonOr(texts.join('\n'))
}

function jsonOr(text: string): unknown {
  // Saves the cost of an exception for most texts.
  if (!/^\s*(?:[[{"\d-]|true|false|null)/u.test(text)) return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
