const codes = {
  bold: [1, 22],
  dim: [2, 22],
  underline: [4, 24],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
} as const

/** Functions that add a colour or attribute to text, or return it unchanged. */
export type Style = { readonly [name in keyof typeof codes]: (text: string) => string }

export interface StyleOptions {
  readonly env: { readonly [name: string]: string | undefined }
  /** Whether the output stream is a terminal. */
  readonly isTerminal: boolean
  /** Value of `--color` or `--no-color`. */
  readonly flag?: boolean
}

/** Precedence: flag, FORCE_COLOR, NO_COLOR, TERM=dumb, terminal. */
export function usesColour({ env, isTerminal, flag }: StyleOptions): boolean {
  if (flag !== undefined) return flag
  const { FORCE_COLOR, NO_COLOR, TERM } = env
  // As in Node, FORCE_COLOR overrides NO_COLOR.
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false
  return TERM === 'dumb' ? false : isTerminal
}

export function createStyle(system: StyleOptions): Style {
  return usesColour(system) ? coloured : plain
}

const styleOf = (make: (open: number, close: number) => (text: string) => string): Style => ({
  bold: make(...codes.bold),
  dim: make(...codes.dim),
  underline: make(...codes.underline),
  red: make(...codes.red),
  green: make(...codes.green),
  yellow: make(...codes.yellow),
  blue: make(...codes.blue),
  magenta: make(...codes.magenta),
  cyan: make(...codes.cyan),
})

export const plain: Style = styleOf(() => (text) => text)

const coloured: Style = styleOf((open, close) => (text) => (text === '' ? '' : `\u001b[${open}m${text}\u001b[${close}m`))
