// A server whose calls leave a line in a file. Its argument: the file.
import { appendFileSync } from 'node:fs'
import { fromJsonSchema, inputRequired, McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

const [file] = process.argv.slice(2)
const done = (line) => {
  appendFileSync(file, `${line}\n`)
  return { content: [{ type: 'text', text: `wrote ${line}` }] }
}
const inputSchema = fromJsonSchema({ type: 'object', properties: { text: { type: 'string' } }, required: ['text'] })
const form = { message: 'Who are you?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } }

serveStdio(() => {
  const mcp = new McpServer({ name: 'effects', version: '1.0.0' }, { capabilities: { tools: {} } })
  const reads = { readOnlyHint: true }
  mcp.registerTool('read-line', { description: 'Reads a line', inputSchema, annotations: reads }, ({ text }) =>
    done(`read ${text}`),
  )
  mcp.registerTool('long', { description: 'Reads a long text', annotations: reads }, () => ({
    content: [{ type: 'text', text: JSON.stringify({ text: 'x'.repeat(200_000) }) }],
  }))
  for (const name of ['write', 'allowed', 'denied', 'asked'])
    mcp.registerTool(name, { description: `Writes a line (${name})`, inputSchema }, ({ text }) => done(text))
  mcp.registerTool('stall', { description: 'Writes a line and never answers', inputSchema }, ({ text }) => {
    done(text)
    return new Promise(() => undefined)
  })
  mcp.registerTool('sign', { description: 'Asks for a name', inputSchema, annotations: reads }, ({ text }, ctx) => {
    const answer = ctx.mcpReq.inputResponses?.who
    if (answer !== undefined) return done(`${text} by ${String(answer.content?.name)}`)
    return inputRequired({ inputRequests: { who: inputRequired.elicit(form) }, requestState: 'signing' })
  })
  return mcp
})
