import { readFileSync } from 'node:fs'

/** What a server with `"placement": "one"` wrote about itself (packages/gateway/test/servers/stateful.mjs). */
export interface Lifetimes {
  /** Pairs of processes that ran at the same time. */
  readonly overlaps: readonly string[]
  /** How often each nonce arrived. */
  readonly calls: ReadonlyMap<string, number>
  readonly processes: number
}

/** Reads the file of a server: lines with its pid, the monotonic time in microseconds, and what happened. */
export function lifetimesIn(file: string): Lifetimes {
  const spans = new Map<string, { readonly start: number; end: number }>()
  const calls = new Map<string, number>()
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [pid = '', at, what, nonce] = line.split(' ')
    // The last line of a process that was killed may be incomplete.
    if (what === undefined) continue
    const time = Number(at)
    const span = spans.get(pid) ?? { start: time, end: time }
    span.end = Math.max(span.end, time)
    spans.set(pid, span)
    if (nonce !== undefined && what !== 'asked') calls.set(nonce, (calls.get(nonce) ?? 0) + 1)
  }
  const overlaps: string[] = []
  let last: { readonly pid: string; readonly end: number } | undefined
  for (const [pid, { start, end }] of [...spans].toSorted(([, a], [, b]) => a.start - b.start)) {
    if (last !== undefined && start <= last.end)
      overlaps.push(`${last.pid} and ${pid} for ${Math.round((last.end - start) / 1_000)} ms`)
    if (last === undefined || end > last.end) last = { pid, end }
  }
  return { overlaps, calls, processes: spans.size }
}
