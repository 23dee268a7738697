import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The package.json of a published version, with the address of its archive. */
interface Published {
  readonly name: string
  readonly version: string
  readonly dist: { tarball: string }
  readonly repository?: { readonly url: string; readonly directory: string }
  readonly dependencies?: Readonly<Record<string, string>>
}

interface Document {
  readonly name: string
  readonly versions: Record<string, Published>
  readonly access: string
  readonly _attachments: Record<string, { readonly data: string }>
}

/** A local npm registry that contains only the packages published to it. */
export interface Registry extends AsyncDisposable {
  readonly url: string
  readonly published: readonly Published[]
  /** Values of `access` that packages were published with. */
  readonly access: ReadonlySet<string>
}

/** Starts a registry on a free port. */
export async function startRegistry(): Promise<Registry> {
  const documents = new Map<string, object>()
  const archives = new Map<string, Buffer>()
  const published: Published[] = []
  const access = new Set<string>()
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    const path = decodeURIComponent(new URL(request.url ?? '', 'http://127.0.0.1').pathname)
    const reply = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    if (request.method === 'PUT') {
      const document = (await bodyOf(request)) as Document
      for (const version of Object.values(document.versions)) {
        version.dist.tarball = `${url}archives/${version.name}-${version.version}.tgz`
        for (const { data } of Object.values(document._attachments))
          archives.set(new URL(version.dist.tarball).pathname, Buffer.from(data, 'base64'))
        published.push(version)
      }
      access.add(document.access)
      documents.set(`/${document.name}`, document)
      return reply(201, { ok: true })
    }
    const archive = archives.get(path)
    if (archive !== undefined) return response.end(archive)
    const document = documents.get(path)
    return document === undefined ? reply(404, { error: 'not_found' }) : reply(200, document)
  }
  const server = createServer((request, response) => void handle(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return {
    url,
    published,
    access,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function bodyOf(request: AsyncIterable<Buffer>): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return JSON.parse(Buffer.concat(chunks).toString())
}
