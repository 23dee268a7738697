// @ts-check
// Positions in the stack traces of QuickJS, as "script:<line>:<column>".

/** Name of the program in stack traces. */
export const programName = 'script'

const position = /(?<before>\(| at )script:(?<line>\d+):(?<column>\d+)/u

/**
 * Returns the first position of the program in a stack trace.
 * @param {string} stack
 * @param {number} shift number of characters before the program on its first line
 */
export function placeOf(stack, shift) {
  const { line, column } = position.exec(stack)?.groups ?? {}
  return line === undefined || column === undefined ? undefined : moved(Number(line), Number(column), shift)
}

/**
 * Returns the lines of a stack trace that belong to the program.
 * @param {string} stack
 * @param {number} shift
 */
export function frames(stack, shift) {
  return stack
    .split('\n')
    .filter((line) => position.test(line))
    .map((line) =>
      line.replace(position, (_, before, row, column) => `${before}${format(moved(Number(row), Number(column), shift))}`),
    )
    .join('\n')
}

/**
 * @param {number} line
 * @param {number} column
 * @param {number} shift
 */
const moved = (line, column, shift) => ({ line, column: line === 1 ? Math.max(1, column - shift) : column })

/** @param {{ line: number, column: number }} place */
const format = ({ line, column }) => `${programName}:${line}:${column}`
