import { stripVTControlCharacters } from 'node:util'
import { printable } from '@unfold-mcp/core'

// Lines that a runtime prints around an error: stack frames, code locations, markers.
const framePattern =
  /^\s*(?:at .*|Node\.js v\d.*|[\^~]+|[{}[\]],?|Traceback \(most recent call last\):|File ".*|node:internal\/.*|(?:file:\/\/)?\S*[/\\]\S+:\d+|throw .*|raise .*|\(Use `node .*|)$/u
// The line above is the source line that failed.
const markerPattern = /^\s*[\^~]+\s*$/u
const harmlessPattern = /\b(?:warn|warning|deprecat\w*|info|debug|trace|notice)\b|Warning\b|\b(?:0|no) errors?\b/iu
// Lines of npm around the actual error.
const npmFramePattern =
  /^npm (?:error|ERR!)\s*(?:(?:code|errno|syscall|path|dest|command|signal|network)\b.*|\d{3}|A complete log.*|)$/u
const errorPattern = new RegExp(
  [
    String.raw`\b(?:errors?|fatal|panic(?:ked)?|exception|fail(?:ed|ure|s)?|cannot|can't|could not|couldn't|unable|missing|required?s?`,
    `|invalid|unauthorized|forbidden|denied|refused|undefined|no such|must (?:be|have|provide|set|specify)`,
    `|not (?:set|found|provided|defined|configured|specified|recognized|supported|a valid|installed)`,
    String.raw`|please (?:set|provide|specify|pass))\b|[a-z](?:Error|Exception)\b`,
  ].join(''),
  'iu',
)

const maxLineLength = 300

/** True for a stack frame, a marker or an empty line. */
export const isStackFrame = (line: string): boolean => framePattern.test(line)

/**
 * Returns the first line that reports an error, without colours and a leading "Error:". Programs print the reason first, then their
 * usage or a stack.
 */
export function firstErrorLine(lines: readonly string[]): string | undefined {
  const plain = lines.map((line) => stripVTControlCharacters(line.slice(0, maxLineLength * 2)).trimEnd())
  const isError = (line: string, at: number): boolean =>
    errorPattern.test(line) &&
    !isStackFrame(line) &&
    !harmlessPattern.test(line) &&
    !npmFramePattern.test(line) &&
    !markerPattern.test(plain[at + 1] ?? '')
  // Indented lines belong to something else, such as source code.
  const outer = plain.findIndex((line, at) => !/^\s/u.test(line) && isError(line, at))
  const at = outer === -1 ? plain.findIndex(isError) : outer
  const line = plain[at]
  if (line === undefined) return undefined
  const next = line.endsWith(':') ? plain.slice(at + 1).find((each) => !isStackFrame(each)) : undefined
  const message = next === undefined ? line : `${line} ${next.trim()}`
  return printable(message.trim().replace(/^(?:npm (?:error|ERR!) |(?:uncaught )?(?:fatal )?error: )/iu, ''), maxLineLength)
}
