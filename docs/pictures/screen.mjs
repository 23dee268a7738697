const esc = '\u001b'
const plain = { bold: false, dim: false, italic: false, underlined: false, inverse: false, hidden: false, struck: false }
const blank = { character: ' ', style: plain }

// A colour that is undefined is the terminal's own.
const switches = new Map([
  [0, { ...plain, colour: undefined, behind: undefined }],
  [1, { bold: true }],
  [2, { dim: true }],
  [3, { italic: true }],
  [4, { underlined: true }],
  [7, { inverse: true }],
  [8, { hidden: true }],
  [9, { struck: true }],
  [22, { bold: false, dim: false }],
  [23, { italic: false }],
  [24, { underlined: false }],
  [27, { inverse: false }],
  [28, { hidden: false }],
  [29, { struck: false }],
  [39, { colour: undefined }],
  [49, { behind: undefined }],
])

/** What a terminal shows after all that was written to it. What it does not know is an error: a picture must not be nearly right. */
export class Screen {
  #columns
  #rows
  #lines
  #row = 0
  #column = 0
  #style = plain
  #rest = ''
  #isCursorShown = true

  constructor(columns, rows) {
    this.#columns = columns
    this.#rows = rows
    this.#lines = [[]]
  }

  /** The lines as text. */
  get text() {
    return this.#lines.map((line) => Array.from(line, ({ character }) => character).join('')).join('\n')
  }

  /** The lines down to the last that is in use, each as many cells as the screen is wide. */
  get lines() {
    const lines = this.#lines.map((line) => Array.from({ length: this.#columns }, (_, at) => line[at] ?? blank))
    if (this.#isCursorShown) {
      const at = Math.min(this.#column, this.#columns - 1)
      const under = lines[this.#row][at]
      lines[this.#row][at] = { ...under, style: { ...under.style, inverse: true } }
    }
    return lines.slice(0, lines.findLastIndex((line) => line.some(isSeen)) + 1)
  }

  write(data) {
    const all = this.#rest + data
    // A sequence may come in two halves.
    const [half = ''] = new RegExp(`${esc}(?:\\[[?\\d;]*)?$`, 'u').exec(all) ?? []
    this.#rest = half
    const parts = all.slice(0, all.length - half.length).matchAll(new RegExp(`${esc}\\[([?\\d;]*)([A-Za-z])|[^]`, 'gu'))
    for (const [part, numbers, letter] of parts) {
      if (letter === undefined) this.#put(part)
      else this.#obey(letter, numbers)
    }
  }

  #put(character) {
    if (character === '\r') this.#column = 0
    else if (character === '\n') this.#moveTo(this.#row + 1, this.#column)
    else if (character === '\b') this.#column = Math.max(0, this.#column - 1)
    else if (character < ' ') throw new Error(`This screen does not know the character ${JSON.stringify(character)}.`)
    else {
      // Only what is written after the last column goes to the next line.
      if (this.#column === this.#columns) this.#moveTo(this.#row + 1, 0)
      this.#pad(this.#column)
      this.#lines[this.#row][this.#column] = { character, style: this.#style }
      this.#column += 1
    }
  }

  #obey(letter, numbers) {
    const count = Math.max(1, Number(numbers))
    if (letter === 'm') for (const number of numbers.split(';')) this.#dress(Number(number))
    else if (letter === 'h' || letter === 'l') {
      if (numbers === '?25') this.#isCursorShown = letter === 'h'
    } else if (letter === 'A') this.#moveTo(this.#row - count, this.#column)
    else if (letter === 'B') this.#moveTo(this.#row + count, this.#column)
    else if (letter === 'C') this.#column = Math.min(this.#columns - 1, this.#column + count)
    else if (letter === 'D') this.#column = Math.max(0, this.#column - count)
    else if (letter === 'G') this.#column = Math.min(this.#columns, count) - 1
    else if (letter === 'J' && Number(numbers) === 0) {
      this.#lines.length = this.#row + 1
      this.#erase(this.#column, this.#columns)
    } else if (letter === 'K' && Number(numbers) === 0) this.#erase(this.#column, this.#columns)
    else if (letter === 'K' && numbers === '1') this.#erase(0, this.#column + 1)
    else if (letter === 'K' && numbers === '2') this.#erase(0, this.#columns)
    else throw new Error(`This screen does not know the sequence Esc [${numbers}${letter}.`)
  }

  #dress(number) {
    const colour = number % 10
    if (switches.has(number)) this.#style = { ...this.#style, ...switches.get(number) }
    else if (colour < 8 && number >= 30 && number < 38) this.#style = { ...this.#style, colour }
    else if (colour < 8 && number >= 40 && number < 48) this.#style = { ...this.#style, behind: colour }
    else if (colour < 8 && number >= 90 && number < 98) this.#style = { ...this.#style, colour: colour + 8 }
    else if (colour < 8 && number >= 100 && number < 108) this.#style = { ...this.#style, behind: colour + 8 }
    else throw new Error(`This screen does not know the style ${number}.`)
  }

  #moveTo(row, column) {
    if (row >= this.#rows) throw new Error(`More than ${this.#rows} lines would be cut.\n${this.text}`)
    this.#row = Math.max(0, row)
    this.#column = column
    while (this.#lines.length <= this.#row) this.#lines.push([])
  }

  #erase(from, to) {
    const line = this.#lines[this.#row]
    this.#lines[this.#row] = line.map((cell, at) => (at >= from && at < to ? blank : cell))
  }

  #pad(column) {
    const line = this.#lines[this.#row]
    while (line.length < column) line.push(blank)
  }
}

function isSeen({ character, style }) {
  return character !== ' ' || style.inverse || style.behind !== undefined
}
