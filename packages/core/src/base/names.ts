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

// More distant names do not help.
const maxDistance = 6

// Comparing thousands of long names would block the event loop: about 10 ms.
const maxComparedCharacters = 200_000

/** Returns the names most similar to `wanted`, best first. */
export function nearest(wanted: string, names: Iterable<string>, limit = 3): readonly string[] {
  const target = wanted.slice(0, 128).toLowerCase()
  const counts = new Int16Array(128)
  countCharacters(counts, target, 1)
  let reach = Math.min(maxDistance, Math.max(2, Math.floor(target.length / 3)))
  let compared = 0
  const found: { name: string; distance: number }[] = []
  for (const name of names) {
    const candidate = name.toLowerCase()
    const contains = candidate.includes(target)
    if (!contains && (compared > maxComparedCharacters || minDistance(counts, target, candidate) > reach)) continue
    if (!contains) compared += target.length
    const distance =
      contains && target.length > 2 ? Math.min(1, candidate.length - target.length) : editDistance(target, candidate, reach)
    if (distance > reach) continue
    found.push({ name, distance })
    found.sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    if (found.length > limit) found.pop()
    if (found.length === limit) reach = found.at(-1)?.distance ?? reach
  }
  return found.map((entry) => entry.name)
}

/** A lower bound of the edit distance that takes linear time: the characters that one text has and the other lacks. */
function minDistance(counts: Int16Array, target: string, candidate: string): number {
  const difference = target.length - candidate.length
  if (Math.abs(difference) > maxDistance) return maxDistance + 1
  const lacking = countCharacters(counts, candidate, -1)
  countCharacters(counts, candidate, 1)
  return Math.max(lacking, lacking + difference)
}

/** Adds `step` to the count of each character, and returns how often a count was below zero afterwards. */
function countCharacters(counts: Int16Array, text: string, step: 1 | -1): number {
  let below = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at) % counts.length
    const count = (counts[code] ?? 0) + step
    counts[code] = count
    if (count < 0) below++
  }
  return below
}

/** Returns " Nearest: a, b." or an empty string, to append to a sentence. */
export function nearestHint(names: readonly string[]): string {
  return names.length === 0 ? '' : ` Nearest: ${names.join(', ')}.`
}

/** Levenshtein distance, or `limit + 1` if it is larger. */
function editDistance(a: string, b: string, limit: number): number {
  const past = limit + 1
  if (Math.abs(a.length - b.length) > limit) return past
  let previous = new Uint8Array(b.length + 2).map((_, index) => Math.min(index, past))
  let current = new Uint8Array(b.length + 2)
  for (let i = 1; i <= a.length; i++) {
    // Cells further from the diagonal exceed the limit.
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
