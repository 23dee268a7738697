const maxCharacters = 16_000
const allowed = /[^\w\-.~:/?#@!$&'()*+,;=%]/gu

/** The address as a URI that every reader accepts: browsers let characters pass that the standard does not. */
export function uriOf(text: string): string {
  if (!URL.canParse(text)) return `about:invalid#${encoded(text.slice(0, 200)).replaceAll('#', '%23')}`
  const { href } = new URL(text)
  // Brackets belong around a host that is a number, and nowhere else.
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

/** The address without the part that is never sent. */
export function withoutFragment(url: string): string {
  return url.replace(/#.*$/s, '')
}
