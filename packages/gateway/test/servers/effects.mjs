// A server whose calls leave a line in a file. Its arguments: the file, and the era it supports (`session`, or both).
import { appendFileSync } from 'node:fs'
import { fromJsonSchema, inputRequired, McpServer } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'

const [file, speaks] = process.argv.slice(2)
const done = (line) => {
  appendFileSync(file, `${line}\n`)
  return { content: [{ type: 'text', text: `wrote ${line}` }] }
}
const inputSchema = fromJsonSchema({ type: 'object', properties: { text: { type: 'string' } } })
const form = {
  message: 'Who are you?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
}

function make({ era }) {
  const mcp = new McpServer({ name: 'effects', version: '1.0.0' }, { capabilities: { tools: {} } })
  mcp.registerTool('write', { description: 'Writes a line', inputSchema }, ({ text }) => done(text))
  mcp.registerTool('stall', { description: 'Writes a line and never answers', inputSchema }, ({ text }) => {
    done(text)
    return new Promise(() => undefined)
  })
  mcp.registerTool('sign', { description: 'Asks for a name, then writes a line', inputSchema }, async ({ text }, ctx) => {
    if (era === 'legacy') {
      const answer = await ctx.mcpReq.send({ method: 'elicitation/create', params: { mode: 'form', ...form } })
      return done(`${text} by ${String(answer.content?.name)}`)
    }
    const answer = ctx.mcpReq.inputResponses?.who
    if (answer !== undefined) return done(`${text} by ${String(answer.content?.name)}`)
    return inputRequired({ inputRequests: { who: inputRequired.elicit(form) }, requestState: 'signing' })
  })
  return mcp
}

if (speaks === 'session') await make({ era: 'legacy' }).connect(new StdioServerTransport())
else serveStdio(make)
