// More distant names do not help.
const maxDistance = 6

// Of longer names, only the start is compared.
const maxTargetLength = 128
const maxNameLength = 256

/** Default limit of the work of one search, in character comparisons: about 1 ms. */
export const maxNearestWork = 150_000

// Finding one text in another is native code, which takes about as long for this many characters as one comparison here.
const charactersPerScan = 8

/** Returns the names most similar to `wanted`, best first. Stops after `maxWork` comparisons with the best names until then. */
export function nearest(wanted: string, names: Iterable<string>, limit = 3, maxWork = maxNearestWork): readonly string[] {
  const search = new NearestSearch(wanted, limit, maxWork)
  search.run(names)
  return search.names
}

/** Returns " Nearest: a, b." or an empty string, to append to a sentence. */
export function nearestHint(names: readonly string[]): string {
  return names.length === 0 ? '' : ` Nearest: ${names.join(', ')}.`
}

/** One search; `work` never exceeds the limit, however many names there are and however long they are. */
export class NearestSearch {
  readonly #target: string
  readonly #first: string
  readonly #limit: number
  readonly #maxWork: number
  readonly #counts = new Int16Array(128)
  readonly #found: { readonly name: string; readonly distance: number }[] = []
  #reach: number
  #work = 0

  constructor(wanted: string, limit: number, maxWork: number) {
    this.#target = wanted.slice(0, maxTargetLength).toLowerCase()
    this.#first = this.#target.slice(0, 1)
    this.#limit = limit
    this.#maxWork = maxWork
    this.#reach = Math.min(maxDistance, Math.max(2, Math.floor(this.#target.length / 3)))
    countCharacters(this.#counts, this.#target)
  }

  get work(): number {
    return this.#work
  }

  get names(): readonly string[] {
    return this.#found.map(({ name }) => name)
  }

  run(names: Iterable<string>): void {
    // Most misspelt names have the right first letter and about the right length, so these are compared first.
    const unlikely: string[] = []
    for (const name of names) {
      if (!this.#spend(1)) return
      if (!this.#isLikely(name)) unlikely.push(name)
      else if (!this.#compare(name)) return
    }
    for (const name of unlikely) if (!this.#compare(name)) return
  }

  #isLikely(name: string): boolean {
    return this.#isWithinReach(name.length) && name.slice(0, 1).toLowerCase() === this.#first
  }

  #isWithinReach(length: number): boolean {
    return Math.abs(length - this.#target.length) <= this.#reach
  }

  /** Returns `false` when the work is used up. */
  #compare(name: string): boolean {
    const target = this.#target
    const isLonger = name.length >= target.length
    if (!isLonger && !this.#isWithinReach(name.length)) return true
    if (!this.#spend(Math.ceil(Math.min(name.length, maxNameLength) / charactersPerScan))) return false
    const candidate = name.slice(0, maxNameLength).toLowerCase()
    if (isLonger && target.length > 2 && candidate.includes(target)) {
      this.#add(name, Math.min(1, candidate.length - target.length))
      return true
    }
    if (!this.#isWithinReach(candidate.length)) return true
    if (!this.#spend(candidate.length)) return false
    const lacking = lackingCharacters(this.#counts, candidate, this.#reach)
    if (Math.max(lacking, lacking + target.length - candidate.length) > this.#reach) return true
    if (!this.#spend(target.length * (2 * this.#reach + 1))) return false
    const distance = editDistance(target, candidate, this.#reach)
    if (distance <= this.#reach) this.#add(name, distance)
    return true
  }

  #add(name: string, distance: number): void {
    if (distance > this.#reach) return
    const found = this.#found
    found.push({ name, distance })
    found.sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    if (found.length > this.#limit) found.pop()
    if (found.length === this.#limit) this.#reach = found.at(-1)?.distance ?? this.#reach
  }

  #spend(work: number): boolean {
    if (this.#work + work > this.#maxWork) return false
    this.#work += work
    return true
  }
}

/** Returns how many characters of the candidate the target lacks, or `limit + 1` if more: a lower bound of the edit distance. */
function lackingCharacters(counts: Int16Array, candidate: string, limit: number): number {
  let lacking = 0
  let end = 0
  for (; end < candidate.length && lacking <= limit; end++) {
    const code = candidate.charCodeAt(end) % counts.length
    const count = (counts[code] ?? 0) - 1
    counts[code] = count
    if (count < 0) lacking++
  }
  countCharacters(counts, candidate.slice(0, end))
  return lacking
}

function countCharacters(counts: Int16Array, text: string): void {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at) % counts.length
    counts[code] = (counts[code] ?? 0) + 1
  }
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
