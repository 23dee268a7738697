import { Failure } from './failure.ts'

const toolName = /^[A-Za-z0-9_.-]{1,128}$/

/** Whether MCP allows this name for a tool. */
export const isToolName = (name: string): boolean => toolName.test(name)

/** Refuses a name that MCP does not allow for a tool. */
export function checkToolName(name: string): void {
  if (isToolName(name)) return
  throw new Failure(
    'invalid_name',
    `"${printable(name)}" cannot be a tool's name. Use 1 to 128 letters, digits, underscores, dots and hyphens.`,
    { name },
  )
}

const groupName = /^[A-Za-z0-9_.-]{1,100}$/

/** Refuses a group name that could not stand inside the name of its activator. */
export function checkGroupName(name: string): void {
  if (groupName.test(name) && name !== '__proto__') return
  throw new Failure(
    'invalid_name',
    `"${printable(name)}" cannot be a group's name. Use 1 to 100 letters, digits, underscores, dots and hyphens.`,
    { name },
  )
}

/** Text from outside, safe to show: control characters become escapes and long text is cut. */
export function printable(text: string, limit = 120): string {
  const cut = text.length > limit ? `${text.slice(0, limit)}…` : text
  return cut.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu, (char) => `\\u{${char.codePointAt(0)?.toString(16) ?? '?'}}`)
}

/** The same for a text of several lines: line breaks stay, and tabs become spaces. */
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

// Names that differ in more are no help, and among thousands of long ones looking further takes as long as hundreds of requests.
const maxDistance = 6

/** The names most like `wanted`, best first; none when nothing is close. */
export function nearest(wanted: string, names: Iterable<string>, limit = 3): readonly string[] {
  const target = wanted.slice(0, 128).toLowerCase()
  const reach = Math.min(maxDistance, Math.max(2, Math.floor(target.length / 3)))
  const found: { name: string; distance: number }[] = []
  for (const name of names) {
    const candidate = name.toLowerCase()
    if (Math.abs(candidate.length - target.length) > reach && !candidate.includes(target)) continue
    const distance =
      candidate.includes(target) && target.length > 2
        ? Math.min(1, candidate.length - target.length)
        : editDistance(target, candidate, reach)
    if (distance <= reach) found.push({ name, distance })
  }
  return found
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map((entry) => entry.name)
}

/** "Nearest: a, b." or nothing, ready to follow a sentence. */
export function nearestHint(names: readonly string[]): string {
  return names.length === 0 ? '' : ` Nearest: ${names.join(', ')}.`
}

/** How many characters must change, or more than `limit` when that many are not enough. */
function editDistance(a: string, b: string, limit: number): number {
  const past = limit + 1
  if (Math.abs(a.length - b.length) > limit) return past
  let previous = new Uint8Array(b.length + 2).map((_, index) => Math.min(index, past))
  let current = new Uint8Array(b.length + 2)
  for (let i = 1; i <= a.length; i++) {
    // What lies further from the diagonal is past the limit.
    const from = Math.max(1, i - limit)
    const to = Math.min(b.length, i + limit)
    current[from - 1] = from === 1 ? Math.min(i, past) : past
    current[to + 1] = past
    let best = current[from - 1] ?? past
    for (let j = from; j <= to; j++) {
      const substitution = (previous[j - 1] ?? past) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const value = Math.min(substitution, (previous[j] ?? past) + 1, (current[j - 1] ?? past) + 1, past)
      current[j] = value
      if (value < best) best = value
    }
    if (best > limit) return past
    ;[previous, current] = [current, previous]
  }
  return previous[b.length] ?? past
}
