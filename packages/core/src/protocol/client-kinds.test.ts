import { expect, test } from 'vitest'
import { type ClientKind, clientKinds, entryText } from './client-kinds.ts'

const url = 'http://127.0.0.1:7420/mcp'
const textFor = (name: string): string | undefined =>
  entryText(clientKinds[name] as ClientKind, url, { Authorization: 'Bearer <token>' })

test('the entry to paste has the format of the file', () => {
  expect(JSON.parse(textFor('claude') ?? '')).toEqual({
    mcpServers: { unfold: { type: 'http', url, headers: { Authorization: 'Bearer <token>' } } },
  })
  expect(textFor('codex')).toBe(`[mcp_servers.unfold]\nurl = "${url}"\nhttp_headers = { "Authorization" = "Bearer <token>" }`)
  expect(textFor('continue')).toBe(
    `mcpServers:\n  - name: unfold\n    type: "streamable-http"\n    url: "${url}"\n    requestOptions: { "headers": { "Authorization": "Bearer <token>" } }`,
  )
  expect(textFor('claude-desktop')).toBeUndefined()
})
