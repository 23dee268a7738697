const letters = 'abcdefghijklmnopqrstuvwxyz0123456789'
const codes =
  '.- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.. ----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----.'.split(
    ' ',
  )
const codeOf = new Map(Array.from(letters).map((letter, index) => [letter, codes[index] ?? '']))
const letterOf = new Map([...codeOf].map(([letter, code]) => [code, letter]))

/** Separates letters by spaces and words by slashes; omits characters without a code. */
export function toMorse(text: string): string {
  const word = (each: string): string =>
    Array.from(each)
      .flatMap((letter) => codeOf.get(letter) ?? [])
      .join(' ')
  return text.toLowerCase().split(/\s+/u).map(word).join(' / ')
}

export function fromMorse(text: string): string {
  const word = (each: string): string =>
    each
      .trim()
      .split(/\s+/u)
      .map((code) => letterOf.get(code) ?? '�')
      .join('')
  return text.split('/').map(word).join(' ')
}
