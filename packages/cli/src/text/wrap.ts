import { charactersOf, widthOf } from './width.ts'

/** Wraps safe text at spaces to at most `width` columns; longer words are broken anywhere. */
export function wrapped(text: string, width: number): readonly string[] {
  return text.split('\n').flatMap((line) => wrappedLine(line, Math.max(1, Math.floor(width))))
}

function wrappedLine(line: string, width: number): readonly string[] {
  if (widthOf(line) <= width) return [line.trimEnd()]
  // Lists keep their indentation.
  const indent = (/^ */u.exec(line)?.[0] ?? '').slice(0, Math.floor(width / 2))
  const room = width - indent.length
  const lines: string[] = []
  let current = ''
  let taken = 0
  for (const word of line
    .split(' ')
    .filter((part) => part !== '')
    .flatMap((part) => pieces(part, room))) {
    const size = widthOf(word)
    if (current !== '' && taken + 1 + size > room) {
      lines.push(indent + current)
      current = ''
    }
    taken = current === '' ? size : taken + 1 + size
    current = current === '' ? word : `${current} ${word}`
  }
  return current === '' ? lines : [...lines, indent + current]
}

function pieces(word: string, width: number): readonly string[] {
  if (widthOf(word) <= width) return [word]
  const complete: string[] = []
  let piece = ''
  let taken = 0
  for (const character of charactersOf(word)) {
    const size = widthOf(character)
    if (piece !== '' && taken + size > width) {
      complete.push(piece)
      piece = ''
      taken = 0
    }
    piece += character
    taken += size
  }
  return piece === '' ? complete : [...complete, piece]
}

export function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}

/** Cuts text to `width` columns, with an ellipsis. */
export function fitted(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  const [first = ''] = pieces(text, Math.max(1, width - 1))
  return width < 1 ? '' : `${widthOf(first) > width - 1 ? '' : first}…`
}
