/** Numbers of the words of a text. A hash table of numbers takes a tenth of the memory of a map with twelve thousand strings. */
export class WordNumbers {
  readonly #text: string
  /** Start of each word in the text, and the end of the last one plus one. */
  readonly #starts: Uint32Array
  /** Number of a word plus one by hash; 0 for no word. */
  readonly #slots: Uint16Array
  readonly #mask: number

  /** `text` has at most 65,535 different words, with a space between them. */
  constructor(text: string) {
    this.#text = text
    const starts = [0]
    for (let space = text.indexOf(' '); space !== -1; space = text.indexOf(' ', space + 1)) starts.push(space + 1)
    this.#starts = Uint32Array.from([...starts, text.length + 1])
    this.#mask = 2 ** Math.ceil(Math.log2(2 * starts.length)) - 1
    this.#slots = new Uint16Array(this.#mask + 1)
    for (let number = 0; number < starts.length; number++) {
      let slot = this.#slotOf(text, this.#starts[number] as number, (this.#starts[number + 1] as number) - 1)
      while (this.#slots[slot] !== 0) slot = (slot + 1) & this.#mask
      this.#slots[slot] = number + 1
    }
  }

  numberOf(word: string): number | undefined {
    const slots = this.#slots
    let slot = this.#slotOf(word, 0, word.length)
    for (let found = slots[slot] as number; found !== 0; found = slots[slot] as number) {
      if (this.#isAt(found - 1, word)) return found - 1
      slot = (slot + 1) & this.#mask
    }
    return undefined
  }

  #isAt(number: number, word: string): boolean {
    const start = this.#starts[number] as number
    return (this.#starts[number + 1] as number) - 1 - start === word.length && this.#text.startsWith(word, start)
  }

  /** FNV-1a. */
  #slotOf(text: string, from: number, to: number): number {
    let hash = 0x811c9dc5
    for (let i = from; i < to; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
    return (hash ^ (hash >>> 15)) & this.#mask
  }
}
