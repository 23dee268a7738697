import { addressMarker, isRedactedValue, type OnRedacted } from './marker.ts'
import { isLong, isSensitiveValue, secrecyOf } from './names.ts'

type Apply = (text: string) => string

/** Redacts user, password and secret parameters of a URL; `text` redacts the rest. */
export function redactInAddress(url: string, onRedacted: OnRedacted, text: Apply): string {
  if (/^(?:data|blob|javascript):/i.test(url)) return text(url)
  const bare = withoutUser(url, onRedacted)
  const [origin = ''] = /^[a-z][a-z0-9+.-]{0,30}:\/\/[^/?#]*/i.exec(bare) ?? []
  const hash = cut(bare.slice(origin.length), '#')
  const query = cut(hash.before, '?')
  const path = origin + redactInPath(query.before, onRedacted, text)
  const parameters = query.after === undefined ? '' : `?${redactInParameters(query.after, onRedacted, text)}`
  return path + parameters + (hash.after === undefined ? '' : `#${redactInFragment(hash.after, onRedacted, text)}`)
}

/** Redacts secret parameters of a query or form body. */
export function redactInParameters(parameters: string, onRedacted: OnRedacted, text: Apply): string {
  return parameters
    .split('&')
    .map((parameter) => redactInParameter(parameter, onRedacted, text))
    .join('&')
}

function redactInParameter(parameter: string, onRedacted: OnRedacted, text: Apply): string {
  const { before: name, after: value } = cut(parameter, '=')
  if (value === undefined) return inAddress(parameter, text)
  const secrecy = secrecyOf(decoded(name))
  const isSecret = secrecy === 'always' || secrecy === 'data' || (secrecy === 'long' && isLong(value))
  if (!isSecret) return `${inAddress(name, text)}=${inAddress(value, text)}`
  if (isRedactedValue(value) || !isSensitiveValue(name, value)) return parameter
  onRedacted('parameter')
  return `${name}=${addressMarker}`
}

/** Decodes before redacting, because secrets in a URL may be percent-encoded. */
function inAddress(written: string, text: Apply): string {
  const says = decoded(written)
  const clean = text(says)
  return clean === says ? written : encodeURIComponent(clean)
}

function withoutUser(url: string, onRedacted: OnRedacted): string {
  const [, scheme, user] = /^([a-z][a-z0-9+.-]{0,30}:\/\/)([^/?#]*)@/i.exec(url) ?? []
  if (scheme === undefined || user === undefined || isRedactedValue(user)) return url
  onRedacted('user')
  return `${scheme}${addressMarker}${url.slice(scheme.length + user.length)}`
}

/** Redacts `https://user:password@host` anywhere in a text. */
export function redactUsers(text: string, onRedacted: OnRedacted, marker: string): string {
  const authority = /[^/?#\s"'`<>\\]*/y
  let clean = ''
  let kept = 0
  for (let at = text.indexOf('://'); at !== -1; at = text.indexOf('://', at + 3)) {
    authority.lastIndex = at + 3
    const user = authority.exec(text)?.[0] ?? ''
    const length = user.lastIndexOf('@')
    if (length <= 0 || isRedactedValue(user.slice(0, length))) continue
    clean += text.slice(kept, at + 3) + marker
    kept = at + 3 + length
    onRedacted('user')
  }
  return clean + text.slice(kept)
}

// Login links such as /reset-password/8f3a… contain the secret in the path.
function redactInPath(path: string, onRedacted: OnRedacted, text: Apply): string {
  const parts = path.split('/')
  return parts
    .map((part, i) => {
      if (i > 0 && isLong(part) && secrecyOf(parts[i - 1] ?? '') === 'always') {
        onRedacted('path')
        return addressMarker
      }
      return redactInParts(part, onRedacted, text)
    })
    .join('/')
}

/** Handles matrix parameters: `/list;jsessionid=8f3a…`. */
function redactInParts(part: string, onRedacted: OnRedacted, text: Apply): string {
  return part
    .split(';')
    .map((each) => (each.includes('=') ? redactInParameter(each, onRedacted, text) : inAddress(each, text)))
    .join(';')
}

function redactInFragment(fragment: string, onRedacted: OnRedacted, text: Apply): string {
  const { before, after } = cut(fragment, '?')
  if (after !== undefined) return `${redactInFragment(before, onRedacted, text)}?${redactInParameters(after, onRedacted, text)}`
  return before.includes('=') ? redactInParameters(before, onRedacted, text) : redactInPath(before, onRedacted, text)
}

function cut(text: string, mark: string): { readonly before: string; readonly after?: string } {
  const at = text.indexOf(mark)
  return at === -1 ? { before: text } : { before: text.slice(0, at), after: text.slice(at + 1) }
}

function decoded(text: string): string {
  if (!/[%+]/.test(text)) return text
  const spaced = text.replaceAll('+', ' ')
  try {
    return decodeURIComponent(spaced)
  } catch {
    // A truncated or invalid escape.
    return spaced.replace(/(?:%[0-7][0-9a-f])+/gi, (escapes) => decodeURIComponent(escapes))
  }
}
