import { Failure } from './failure.ts'

const toolName = /^[A-Za-z0-9_.-]{1,128}$/

/** True for a tool name that MCP allows. */
export const isToolName = (name: string): boolean => toolName.test(name)

/** Throws for a tool name that MCP does not allow. */
export function checkToolName(name: string): void {
  if (isToolName(name)) return
  throw new Failure(
    'invalid_name',
    `"${printable(name)}" is not a valid tool name. Use 1 to 128 letters, digits, underscores, dots and hyphens.`,
    { name },
  )
}

const groupName = /^[A-Za-z0-9_.-]{1,100}$/

/** Throws for a group name that cannot be part of an activator name. */
export function checkGroupName(name: string): void {
  if (groupName.test(name) && name !== '__proto__') return
  throw new Failure(
    'invalid_name',
    `"${printable(name)}" is not a valid group name. Use 1 to 100 letters, digits, underscores, dots and hyphens.`,
    { name },
  )
}

/** Makes untrusted text safe to print: escapes control characters and truncates. */
export function printable(text: string, limit = 120): string {
  const cut = text.length > limit ? `${text.slice(0, limit)}…` : text
  return cut.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu, (char) => `\\u{${char.codePointAt(0)?.toString(16) ?? '?'}}`)
}

/** Multi-line variant of `printable`: keeps line breaks and expands tabs. */
export function printableText(text: string, limit = 1_000): string {
  const allVersion = text
    .slice(0, 2 * limit + 2)
    .replace(/\r\n?/gu, '\n')
    .replaceAll('\t', '  ')
  const cut = allVersion.length > limit ? `${allVersion.slice(0, limit)}…` : allVersion
  return cut
    .split('\n')
    .map((line) => printable(line, limit + 1))
    .join('\n')
}
