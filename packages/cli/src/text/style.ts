import { styleText } from 'node:util'

const names = ['bold', 'dim', 'underline', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan'] as const
type Name = (typeof names)[number]

/** Functions that add a colour or attribute to text, or return it unchanged. */
export type Style = { readonly [name in Name]: (text: string) => string }

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

const styleOf = (apply: (name: Name, text: string) => string): Style =>
  Object.fromEntries(names.map((name) => [name, (text: string) => apply(name, text)])) as Style

export const plain: Style = styleOf((_, text) => text)

// Newer versions of Node would otherwise decide by stdout; `usesColour` has decided.
const coloured: Style = styleOf((name, text) => (text === '' ? '' : styleText(name, text, { validateStream: false })))
