import { stripVTControlCharacters } from 'node:util'
import { printable } from '@unfold-mcp/core'

// What a runtime prints around an error, and where in the code it was: of use to whoever wrote the server alone.
const around =
  /^\s*(?:at .*|Node\.js v\d.*|[\^~]+|[{}[\]],?|Traceback \(most recent call last\):|File ".*|node:internal\/.*|(?:file:\/\/)?\S*[/\\]\S+:\d+|throw .*|raise .*|\(Use `node .*|)$/u
// What stands above is the line of the code that failed.
const mark = /^\s*[\^~]+\s*$/u
const harmless = /\b(?:warn|warning|deprecat\w*|info|debug|trace|notice)\b|Warning\b|\b(?:0|no) errors?\b/iu
// npm says these before, or after, what it is about.
const npmFrame = /^npm (?:error|ERR!)\s*(?:(?:code|errno|syscall|path|dest|command|signal|network)\b.*|\d{3}|A complete log.*|)$/u
const telling = new RegExp(
  [
    String.raw`\b(?:errors?|fatal|panic(?:ked)?|exception|fail(?:ed|ure|s)?|cannot|can't|could not|couldn't|unable|missing|required?s?`,
    String.raw`|invalid|unauthorized|forbidden|denied|refused|undefined|no such|must (?:be|have|provide|set|specify)`,
    String.raw`|not (?:set|found|provided|defined|configured|specified|recognized|supported|a valid|installed)`,
    String.raw`|please (?:set|provide|specify|pass))\b|[a-z](?:Error|Exception)\b`,
  ].join(''),
  'iu',
)

const longest = 300

/** Whether a line is only the frame of an error: a place in the code, a mark, or nothing at all. */
export const isFrame = (line: string): boolean => around.test(line)

/**
 * The first line that says what went wrong, without colours and a leading "Error:"; programs print the reason first, and their
 * usage or a stack after it. `undefined` when no line does.
 */
export function firstErrorLine(lines: readonly string[]): string | undefined {
  const plain = lines.map((line) => stripVTControlCharacters(line.slice(0, longest * 2)).trimEnd())
  const isError = (line: string, at: number): boolean =>
    telling.test(line) && !isFrame(line) && !harmless.test(line) && !npmFrame.test(line) && !mark.test(plain[at + 1] ?? '')
  // What is indented is a part of something else, such as a line of the code that failed.
  const outer = plain.findIndex((line, at) => !/^\s/u.test(line) && isError(line, at))
  const at = outer === -1 ? plain.findIndex(isError) : outer
  const found = plain[at]
  if (found === undefined) return undefined
  const next = found.endsWith(':') ? plain.slice(at + 1).find((line) => !isFrame(line)) : undefined
  const whole = next === undefined ? found : `${found} ${next.trim()}`
  return printable(whole.trim().replace(/^(?:npm (?:error|ERR!) |(?:uncaught )?(?:fatal )?error: )/iu, ''), longest)
}
