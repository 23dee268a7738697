import type { Header } from '../../records/records.ts'
import { isoDate } from '../time.ts'

/** HAR cookie. */
export interface HarCookie {
  readonly name: string
  readonly value: string
  readonly path?: string
  readonly domain?: string
  readonly expires?: string
  readonly httpOnly?: boolean
  readonly secure?: boolean
}

const maxCookies = 200

/** Cookies of a request. */
export function sentCookies(headers: readonly Header[]): readonly HarCookie[] {
  return valuesOf(headers, 'cookie')
    .flatMap((value) => value.split(';'))
    .filter((pair) => pair.trim() !== '')
    .slice(0, maxCookies)
    .map(pairOf)
}

/** Cookies set by a response. */
export function setCookies(headers: readonly Header[]): readonly HarCookie[] {
  return valuesOf(headers, 'set-cookie')
    .slice(0, maxCookies)
    .map((value) => {
      const [first = '', ...rest] = value.split(';')
      const attributes = new Map(rest.map(pairOf).map((pair) => [pair.name.toLowerCase(), pair.value] as const))
      const [path, domain] = [attributes.get('path'), attributes.get('domain')]
      const expires = isoDate(attributes.get('expires') ?? '')
      return {
        ...pairOf(first),
        ...(path !== undefined && { path }),
        ...(domain !== undefined && { domain }),
        ...(expires !== undefined && { expires }),
        httpOnly: attributes.has('httponly'),
        secure: attributes.has('secure'),
      }
    })
}

function valuesOf(headers: readonly Header[], wanted: string): readonly string[] {
  return headers.filter(({ name }) => name.toLowerCase() === wanted).map(({ value }) => value)
}

function pairOf(text: string): { readonly name: string; readonly value: string } {
  const at = text.indexOf('=')
  if (at === -1) return { name: text.trim(), value: '' }
  return { name: text.slice(0, at).trim(), value: text.slice(at + 1).trim() }
}
