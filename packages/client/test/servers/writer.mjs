// Writes and reads the same cache entries repeatedly, as one of several processes; prints the number of torn reads.
import { fileCache } from '@unfold-mcp/client/cache'

const [directory, who, rounds] = process.argv.slice(2)
let wrong = 0
const cache = fileCache(directory, { onWarning: () => wrong++ })
const filler = 'x'.repeat(20_000)
for (let round = 0; round < Number(rounds); round++) {
  const key = { name: 'shared', server: String(round % 3), credential: '', view: '' }
  const mark = `${who}-${round}`
  const tools = Array.from({ length: 5 }, (_, i) => ({
    name: `tool_${i}`,
    description: `${mark} ${filler}`,
    inputSchema: { type: 'object' },
  }))
  await cache.set(key, {
    tools,
    identity: mark,
    savedAt: Date.now(),
    server: { name: 's', version: '1' },
    protocolVersion: '2026-07-28',
  })
  const found = await cache.get(key)
  // An intact entry comes from one writer and one round.
  if (found === undefined || found.tools.some(({ description }) => !description.startsWith(`${found.identity} `))) wrong++
}
process.stdout.write(String(wrong))
