//#region connect
import { connect, type Target } from '@unfold-mcp/client'

export async function plantTomatoes(garden: Target): Promise<string> {
  await using connection = await connect(garden)
  const { name } = connection.server
  const tools = await connection.tools()
  const { content } = await connection.call('plant', { what: 'Tomatoes' })
  const words = content.map((block) => (block.type === 'text' ? block.text : block.type)).join(' ')
  return `${name} has ${tools.length} tools and says: ${words}`
}
//#endregion

//#region targets
export const targets: readonly Target[] = [
  { command: 'node', args: ['server.js'], env: { GARDEN: 'back' } },
  { url: 'https://garden.example/mcp', headers: { 'x-garden': 'back' } },
  { url: 'https://garden.example/mcp', auth: { token: async () => process.env.GARDEN_TOKEN } },
  { url: 'https://old.garden.example/sse', transport: 'sse' },
]
//#endregion

//#region expect
export async function trusted(garden: Target, reviewed: string): Promise<readonly string[]> {
  await using connection = await connect(garden, { expectIdentity: reviewed })
  return (await connection.tools()).map((tool) => tool.name)
}
//#endregion

//#region calls
export async function report(garden: Target, folder: string): Promise<readonly string[]> {
  await using connection = await connect(garden)
  const { files } = await connection.call(
    'year_report',
    { year: 2026 },
    {
      timeoutMs: 30_000,
      maxTimeoutMs: 300_000,
      onProgress: ({ progress, total }) => console.error(`${progress} of ${total ?? '?'}`),
      saveTo: folder,
    },
  )
  return files.map((file) => file.path)
}
//#endregion
