import { marker } from './marker.ts'
import { type Step, stepsOf } from './pattern-steps.ts'
import { type CharacterSet, parsePattern } from './pattern-syntax.ts'

/** Compiled user pattern. */
export interface Pattern {
  /** Redacts every match and returns the number of redactions. */
  hide(text: string): { readonly text: string; readonly hidden: number }
}

/**
 * Compiles a regular expression to a matcher with linear time for any text. Throws `InvalidPattern` for unsupported syntax.
 *
 * Not RE2: finding one match is linear there, but finding all is quadratic (`a|a*b`), and overlapping matches are skipped.
 */
export function compilePattern(source: string): Pattern {
  const machine = new Machine(source)
  return { hide: (text) => machine.hide(text) }
}

class Machine {
  readonly #steps: readonly Step[]
  readonly #takes: readonly (((code: number) => boolean) | undefined)[]
  readonly #first: (code: number) => boolean
  // Waiting instructions with the start of their match, earliest first.
  #waiting: number[] = []
  #begins: number[] = []
  #nextWaiting: number[] = []
  #nextBegins: number[] = []
  readonly #seen: Float64Array
  #round = 0

  constructor(source: string) {
    this.#steps = stepsOf(parsePattern(source))
    this.#takes = this.#steps.map((step) => (step.kind === 'take' ? tester(step.set) : undefined))
    this.#seen = new Float64Array(this.#steps.length)
    const first = firstOf(this.#steps).map((step) => this.#takes[step])
    this.#first = (code) => first.some((takes) => takes?.(code) === true)
  }

  hide(text: string): { readonly text: string; readonly hidden: number } {
    const spans = this.#spans(text)
    if (spans.length === 0) return { text, hidden: 0 }
    let clean = ''
    let kept = 0
    for (const [start, end] of spans) {
      clean += text.slice(kept, start) + marker
      kept = end
    }
    return { text: clean + text.slice(kept), hidden: spans.length }
  }

  /** Returns the disjoint spans of all matches, in order. Text that is already redacted is excluded. */
  #spans(text: string): [number, number][] {
    const spans: [number, number][] = []
    let barrier = text.indexOf(marker)
    this.#waiting = []
    this.#begins = []
    for (let at = 0; at < text.length; at++) {
      if (at === barrier) {
        this.#waiting = []
        this.#begins = []
        at += marker.length - 1
        barrier = text.indexOf(marker, at)
        continue
      }
      const code = text.charCodeAt(at)
      if (this.#waiting.length === 0 && !this.#first(code)) continue
      this.#begin(text, at)
      const begun = this.#advance(text, at, code)
      if (begun !== undefined) addSpan(spans, begun, at + 1)
    }
    return spans
  }

  /** Starts a match at this position, after earlier ones. */
  #begin(text: string, at: number): void {
    this.#round++
    for (const step of this.#waiting) this.#seen[step] = this.#round
    this.#reach(0, at, { text, at, waiting: this.#waiting, begins: this.#begins })
  }

  /** Consumes one character; returns the start of the earliest match that ends after it. */
  #advance(text: string, at: number, code: number): number | undefined {
    this.#nextWaiting.length = 0
    this.#nextBegins.length = 0
    this.#round++
    const to = { text, at: at + 1, waiting: this.#nextWaiting, begins: this.#nextBegins }
    let earliest: number | undefined
    for (let i = 0; i < this.#waiting.length; i++) {
      const step = this.#waiting[i] ?? 0
      const begin = this.#begins[i] ?? 0
      if (this.#takes[step]?.(code) !== true) continue
      if (this.#reach(step + 1, begin, to)) earliest ??= begin
    }
    ;[this.#waiting, this.#nextWaiting] = [this.#nextWaiting, this.#waiting]
    ;[this.#begins, this.#nextBegins] = [this.#nextBegins, this.#begins]
    return earliest
  }

  /** Follows instructions that consume nothing; returns whether the pattern accepts. */
  #reach(
    from: number,
    begin: number,
    { text, at, waiting, begins }: { text: string; at: number; waiting: number[]; begins: number[] },
  ): boolean {
    let isEnd = false
    const open = [from]
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      // The first to arrive started earlier and covers this one.
      if (this.#seen[index] === this.#round) continue
      this.#seen[index] = this.#round
      const step = this.#steps[index]
      if (step === undefined) continue
      if (step.kind === 'end') isEnd = true
      else if (step.kind === 'fork') open.push(...step.to)
      else if (step.kind === 'hold') {
        if (holds(step.at, text, at)) open.push(index + 1)
      } else {
        waiting.push(index)
        begins.push(begin)
      }
    }
    return isEnd
  }
}

/** Instructions that can consume the first character. */
function firstOf(steps: readonly Step[]): readonly number[] {
  const first: number[] = []
  const seen = new Set<number>()
  const open = [0]
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    const step = steps[index]
    if (step === undefined || seen.has(index)) continue
    seen.add(index)
    if (step.kind === 'fork') open.push(...step.to)
    else if (step.kind === 'hold') open.push(index + 1)
    else if (step.kind === 'take') first.push(index)
  }
  return first
}

function addSpan(spans: [number, number][], start: number, end: number): void {
  let from = start
  for (let last = spans.at(-1); last !== undefined && last[1] >= from; last = spans.at(-1)) {
    from = Math.min(from, last[0])
    spans.pop()
  }
  spans.push([from, end])
}

function tester({ ranges, isNegated }: CharacterSet): (code: number) => boolean {
  const isIn = (code: number): boolean => ranges.some(([from, to]) => code >= from && code <= to) !== isNegated
  const plain = Uint8Array.from({ length: 128 }, (_, code) => Number(isIn(code)))
  return (code) => (code < 128 ? plain[code] === 1 : isIn(code))
}

function holds(place: 'start' | 'end' | 'edge' | 'inside', text: string, at: number): boolean {
  if (place === 'start') return at === 0 || isLineBreak(text.charCodeAt(at - 1))
  if (place === 'end') return at === text.length || isLineBreak(text.charCodeAt(at))
  const isEdge = isWordCharacter(text.charCodeAt(at - 1)) !== isWordCharacter(text.charCodeAt(at))
  return isEdge === (place === 'edge')
}

const isLineBreak = (code: number): boolean => code === 10 || code === 13 || code === 0x2028 || code === 0x2029
const isWordCharacter = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122)
