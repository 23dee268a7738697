const maxLength = 4_096
const maxReadings = 64

/**
 * Returns every path that a server might read from a text: as it is, with escapes decoded, with backslashes or look-alike characters
 * as separators, without trailing dots and spaces, from a file URL. `undefined` if it cannot be determined where the text leads.
 */
export function pathReadings(text: string): readonly string[] | undefined {
  if (text === '' || text.length > maxLength) return undefined
  const found = new Set([text])
  const paths: string[] = []
  // Readings that are added meanwhile are read as well.
  for (const reading of found) {
    if (isUnclear(reading)) return undefined
    const others = [...(isUrl(reading) ? fromFileUrl(reading) : []), ...variants.map((variant) => variant(reading))]
    for (const other of others) {
      if (other === undefined) return undefined
      found.add(other)
    }
    if (found.size > maxReadings) return undefined
    if (!isUrl(reading)) paths.push(reading)
  }
  return paths
}

const isUrl = (text: string): boolean => /^[a-z][a-z0-9+.-]+:/iu.test(text)

/** A home folder, a variable, a drive, and control characters mean something else to every program. */
const isUnclear = (text: string): boolean =>
  /^\s*(?:~|\$|%\w+%|[a-z]:)/iu.test(text) || /\p{Cc}/u.test(text) || /%u[0-9a-f]{4}/iu.test(text)

/** The path of a file URL, as a URL parser reads it and without the scheme. Other URLs are not paths. */
function fromFileUrl(url: string): readonly (string | undefined)[] {
  const [, host = '', rest = ''] = /^file:(?:\/\/([^/?#]*))?(.*)$/iu.exec(url) ?? []
  // Without a scheme, `..` would be relative to another folder.
  if (rest === '' || !/^(?:localhost)?$/iu.test(host) || segments(rest).includes('..')) return [undefined]
  return [rest, rest.replace(/[?#].*$/u, '')]
}

const segments = (path: string): readonly string[] => path.split('/')

const variants: readonly ((text: string) => string | undefined)[] = [
  decoded,
  (text) => text.normalize('NFKC'),
  (text) => text.replaceAll(/[\\\u2044\u2215\u2216\u2571\u29f5\u29f8\u29f9\u2afd]/gu, '/').replaceAll('\u3002', '.'),
  (text) => text.trimStart(),
  withoutTrailing,
]

/** Decodes valid escapes; `undefined` if they are not UTF-8, such as overlong forms of a dot. */
function decoded(text: string): string | undefined {
  try {
    return text.replaceAll(/(?:%[0-9a-f]{2})+/giu, (escapes) => decodeURIComponent(escapes))
  } catch {
    return undefined
  }
}

/** Removes dots and spaces at the end of names, which Windows and its file systems ignore. */
function withoutTrailing(text: string): string | undefined {
  const names = segments(text).map((name) => {
    const trimmed = name.replace(/\s+$/u, '')
    if (trimmed === '' || trimmed === '.' || trimmed === '..') return trimmed
    return trimmed.replace(/[.\s]+$/u, '')
  })
  // Only dots: some systems read three as two levels up.
  const isUnclearName = names.some((name, at) => name === '' && /\./u.test(segments(text)[at] ?? ''))
  return isUnclearName ? undefined : names.join('/')
}
