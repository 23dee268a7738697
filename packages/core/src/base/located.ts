interface Located {
  readonly line: number
  readonly column: number
  /** Path in the configuration; empty for the file. */
  readonly path: string
  readonly message: string
}

/** A problem of a configuration file as `line:column: path message`, which follows the file name. */
export function locatedText({ line, column, path, message }: Located): string {
  if (path === '') return `${line}:${column} ${message}`
  // Most messages continue the path ("must be a number"); the others are sentences.
  return `${line}:${column}: ${path}${/^[A-Z]/u.test(message) ? ': ' : ' '}${message}`
}
