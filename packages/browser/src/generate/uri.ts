const maxCharacters = 16_000
const allowed = /[^\w\-.~:/?#@!$&'()*+,;=%]/gu

/** Encodes a URL as a valid URI: browsers accept characters that the standard does not. */
export function uriOf(text: string): string {
  if (!URL.canParse(text)) return `about:invalid#${encoded(text.slice(0, 200)).replaceAll('#', '%23')}`
  const { href } = new URL(text)
  // Brackets are valid only around an IPv6 host.
  const [, start = '', rest = ''] = /^([a-z][a-z\d+.-]*:(?:\/\/[^/?#]*)?)(.*)$/is.exec(href) ?? []
  const [path = '', ...fragments] = encoded(rest).split('#')
  const whole = `${start}${path}${fragments.length === 0 ? '' : `#${fragments.join('%23')}`}`
  return whole.length <= maxCharacters ? whole : whole.slice(0, maxCharacters).replace(/%[\da-f]?$/i, '')
}

function encoded(text: string): string {
  return text
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replace(/%(?![\da-f]{2})/gi, '%25')
    .replace(allowed, (character) => encodeURIComponent(character))
}

export function withoutFragment(url: string): string {
  return url.replace(/#.*$/s, '')
}
