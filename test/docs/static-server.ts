import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'

const types: { readonly [extension: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
}

export interface StaticServer extends AsyncDisposable {
  /** Without a trailing slash. */
  readonly url: string
}

/** Serves a folder on 127.0.0.1; a trailing `/` means index.html. */
export async function staticServer(folder: string): Promise<StaticServer> {
  const server = createServer(({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://localhost')
    const path = decodeURIComponent(pathname.endsWith('/') ? `${pathname}index.html` : pathname)
    const type = types[extname(path)] ?? 'application/octet-stream'
    readFile(join(folder, path)).then(
      (content) => response.writeHead(200, { 'content-type': type, 'cache-control': 'max-age=3600' }).end(content),
      () => response.writeHead(404).end(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
