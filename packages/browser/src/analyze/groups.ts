/** Things that are the same but for what differs from time to time, counted together; the first `most` groups of them. */
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

  /** The largest first. */
  list(): readonly { readonly key: string; readonly first: T; readonly count: number; readonly lastSeq: number }[] {
    return [...this.#groups]
      .map(([key, group]) => ({ key, ...group }))
      .sort((a, b) => b.count - a.count || a.first.seq - b.first.seq)
  }
}

/** A message without its numbers, ids and addresses: what makes it the same message another time. */
export function messageKey(text: string): string {
  return text
    .slice(0, 500)
    .replace(/https?:\/\/[^\s'")]{1,300}/g, '<url>')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}|\b0x[0-9a-f]+\b|\b[0-9a-f]{16,}\b/gi, '<id>')
    .replace(/\d+/g, '<n>')
}
