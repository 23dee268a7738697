import { createReadStream, createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { type Toolbox, ToolError } from '@unfold-mcp/server'
import { z } from 'zod'
import { draftPath, pathSchema, rejectExisting } from './files.ts'
import { type Folder, failed } from './folder.ts'
import { ask, bytesOf, type WebLimits } from './web.ts'

const maxFileBytes = 100_000_000

const urlSchema = z.string().min(1).max(4_000).describe('An http or https address')

export function addNetworkTools(hub: Toolbox<'network'>, files: Folder, limits: WebLimits): void {
  hub.tool(
    'fetch_url',
    {
      group: 'network',
      description: 'Fetch a web address and give back its text. Redirects are followed.',
      inputSchema: z.object({
        url: urlSchema,
        maxBytes: z.int().min(1).max(1_000_000).default(100_000).describe('Longer answers are cut here'),
      }),
      outputSchema: z.object({ url: z.string(), status: z.int(), type: z.string(), text: z.string(), truncated: z.boolean() }),
      readOnly: true,
      openWorld: true,
    },
    async ({ url, maxBytes }, { signal }) => {
      const answer = await ask(url, { method: 'GET', signal, ...limits })
      const { bytes, truncated } = await bytesOf(answer.body, maxBytes)
      return { url: answer.url, status: answer.status, type: answer.type, text: bytes.toString('utf8'), truncated }
    },
  )

  hub.tool(
    'download',
    {
      group: 'network',
      description: 'Save what is at a web address as a file in the hub’s folder, at most 100 MB.',
      inputSchema: z.object({ url: urlSchema, path: pathSchema, overwrite: z.boolean().default(false) }),
      outputSchema: z.object({ path: z.string(), bytes: z.int(), type: z.string() }),
      destructive: true,
      openWorld: true,
    },
    async ({ url, path, overwrite }, { signal }) => {
      const location = await files.newPath(path)
      if (!overwrite) await rejectExisting(location, path)
      const { status, type, body, discard } = await ask(url, { method: 'GET', signal, ...limits })
      if (status !== 200) {
        discard()
        throw new ToolError(`${url} returned status ${status}; nothing was saved. Use fetch_url to see the response.`)
      }
      return { path, bytes: await save(body, location).catch(failed(path)), type }
    },
  )

  hub.tool(
    'upload',
    {
      group: 'network',
      description: 'Send a file of the hub’s folder to a web address, at most 100 MB. Gives back what the server answered.',
      inputSchema: z.object({
        path: pathSchema,
        url: urlSchema,
        method: z.enum(['PUT', 'POST']).default('PUT'),
        type: z.string().max(200).default('application/octet-stream').describe('Its media type'),
      }),
      outputSchema: z.object({ status: z.int(), bytes: z.int(), answer: z.string() }),
      destructive: true,
      openWorld: true,
    },
    async ({ path, url, method, type }, { signal }) => {
      const location = await files.existing(path)
      const { size } = await stat(location).catch(failed(path))
      if (size > maxFileBytes) throw new ToolError(`"${path}" has ${size} bytes; up to ${maxFileBytes} can be sent.`)
      const headers = { 'content-type': type, 'content-length': String(size) }
      const { status, body } = await ask(url, { method, headers, body: createReadStream(location), signal, ...limits })
      return { status, bytes: size, answer: (await bytesOf(body, 10_000)).bytes.toString('utf8') }
    },
  )
}

/** Saves a body as a file atomically; returns its size. */
async function save(body: AsyncIterable<Buffer>, location: string): Promise<number> {
  const draft = draftPath(location)
  let bytes = 0
  const counted = async function* (): AsyncGenerator<Buffer> {
    for await (const part of body) {
      bytes += part.length
      if (bytes > maxFileBytes)
        throw new ToolError(`The response has more than ${maxFileBytes} bytes; nothing was saved. Choose a smaller file.`)
      yield part
    }
  }
  try {
    await pipeline(counted, createWriteStream(draft, { flags: 'wx' }))
    await rename(draft, location)
    return bytes
  } finally {
    await rm(draft, { force: true })
  }
}
