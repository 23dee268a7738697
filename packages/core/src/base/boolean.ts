const spellings = { true: ['true', '1', 'yes', 'y', 'on'], false: ['false', '0', 'no', 'n', 'off'] }

/** Parses a boolean setting; `undefined` if it is unset or blank. Throws for anything else. */
export function parseBoolean(name: string, value: string | undefined): boolean | undefined {
  const word = value?.trim().toLowerCase() ?? ''
  if (word === '') return undefined
  if (spellings.true.includes(word)) return true
  if (spellings.false.includes(word)) return false
  throw new Error(`${name} is "${value}". Use true or false, 1 or 0, yes or no, on or off.`)
}
