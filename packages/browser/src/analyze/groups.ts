/** Groups equal values and counts them; keeps the first `max` groups. */
export class Groups<T extends { readonly seq: number }> {
  readonly #groups = new Map<string, { first: T; count: number; lastSeq: number }>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  add(key: string, value: T): void {
    const group = this.#groups.get(key)
    if (group !== undefined) {
      group.count += 1
      group.lastSeq = value.seq
    } else if (this.#groups.size < this.#max) this.#groups.set(key, { first: value, count: 1, lastSeq: value.seq })
  }

  /** Largest group first. */
  list(): readonly { readonly key: string; readonly first: T; readonly count: number; readonly lastSeq: number }[] {
    return [...this.#groups]
      .map(([key, group]) => ({ key, ...group }))
      .sort((a, b) => b.count - a.count || a.first.seq - b.first.seq)
  }
}

/** Normalizes a message: removes numbers, ids and URLs. */
export function messageKey(text: string): string {
  return text
    .slice(0, 500)
    .replace(/https?:\/\/[^\s'")]{1,300}/g, '<url>')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}|\b0x[0-9a-f]+\b|\b[0-9a-f]{16,}\b/gi, '<id>')
    .replace(/\d+/g, '<n>')
}
