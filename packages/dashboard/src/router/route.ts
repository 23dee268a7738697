import { useEffect, useState } from 'preact/hooks'

/** Address of a screen, kept in the fragment so that the gateway serves one page only. */
export interface Route {
  /** Decoded parts: `['servers', 'github']`. */
  readonly path: readonly string[]
  readonly query: URLSearchParams
}

function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/u, '').split('?', 2)
  return {
    path: path
      .split('/')
      .filter((part) => part !== '')
      .map(decoded),
    query: new URLSearchParams(query),
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Link to a screen; encodes every part. */
export function href(path: readonly string[], query: { readonly [key: string]: string | undefined } = {}): string {
  const given = Object.entries(query).flatMap(([key, value]) => (value === undefined || value === '' ? [] : [[key, value]]))
  const search = new URLSearchParams(given).toString()
  return `#/${path.map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash))
  useEffect(() => {
    const update = (): void => setRoute(parseRoute(location.hash))
    addEventListener('hashchange', update)
    return () => removeEventListener('hashchange', update)
  }, [])
  return route
}
