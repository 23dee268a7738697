// A server with prompts and resources that sends requests and notifications during calls. Its arguments: its name, the era it
// supports (`session`, or both), and further behaviours. It logs received commands to stderr.
import { fromJsonSchema, inputRequired, McpServer, ResourceTemplate } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'

const [name, speaks, ...manners] = process.argv.slice(2)
const say = (line) => process.stderr.write(`${line}\n`)
const text = (value) => ({ content: [{ type: 'text', text: value }] })
const schema = (...keys) =>
  fromJsonSchema({ type: 'object', properties: Object.fromEntries(keys.map((key) => [key, { type: 'string' }])) })
const form = {
  message: 'Who are you?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
}
const waiting = []
const followed = new Set()
const refused = new Set()

function make({ era }) {
  const mcp = new McpServer(
    { name, version: '1.0.0' },
    {
      capabilities: manners.includes('bare')
        ? { tools: {} }
        : { tools: {}, logging: {}, prompts: { listChanged: true }, resources: { listChanged: true, subscribe: true } },
    },
  )
  const asks = async (ctx, done) => {
    if (era === 'legacy') {
      const answer = await ctx.mcpReq.send({ method: 'elicitation/create', params: { mode: 'form', ...form } })
      return done(`${answer.action} ${answer.content?.name}`)
    }
    const answer = ctx.mcpReq.inputResponses?.who
    if (answer === undefined)
      return inputRequired({ inputRequests: { who: inputRequired.elicit(form) }, requestState: `secret of ${name}` })
    return done(`${answer.action} ${answer.content?.name} (${ctx.mcpReq.requestState()})`)
  }
  mcp.registerTool('ask', { description: 'Asks the person' }, (ctx) => asks(ctx, text))
  mcp.registerTool('ask_later', { description: 'Asks the person when it is let go' }, async (ctx) => {
    await new Promise((resolve) => waiting.push(resolve))
    return asks(ctx, text)
  })
  mcp.registerTool('go', { description: 'Lets them go' }, () => {
    for (const resolve of waiting.splice(0)) resolve()
    return text('gone')
  })
  mcp.registerTool('able', { description: 'What its client can be asked' }, (ctx) => {
    const envelope = ctx.mcpReq.envelope?.['io.modelcontextprotocol/clientCapabilities']
    return text(
      Object.keys(envelope ?? mcp.server.getClientCapabilities() ?? {})
        .sort()
        .join(' '),
    )
  })
  mcp.registerTool('log', { description: 'Writes to its log', inputSchema: schema('message') }, async ({ message }, ctx) => {
    await ctx.mcpReq.log('warning', message)
    await ctx.mcpReq.log('debug', `${message} in detail`)
    return text('logged')
  })
  mcp.registerTool('wait', { description: 'Never answers' }, (ctx) => {
    say('waiting')
    return new Promise((_, reject) => {
      ctx.mcpReq.signal.addEventListener('abort', () => {
        say('aborted')
        reject(new Error('aborted'))
      })
    })
  })
  if (manners.includes('bare')) return mcp
  const prompt = (each) =>
    mcp.registerPrompt(each, { description: `Says ${each}`, argsSchema: schema('to') }, ({ to }, ctx) =>
      each === 'greet'
        ? { messages: [{ role: 'user', content: { type: 'text', text: `${name} greets ${to}` } }] }
        : asks(ctx, (value) => ({ messages: [{ role: 'user', content: { type: 'text', text: value } }] })),
    )
  const resource = (uri) => mcp.registerResource(uri, uri, {}, async () => ({ contents: [{ uri, text: `${uri} of ${name}` }] }))
  prompt('greet')
  prompt('inquire')
  resource('memo://shared')
  resource(`memo://${name}`)
  mcp.registerResource(
    'any',
    new ResourceTemplate(manners.includes('same') ? 'memo://each/{id}' : `memo://${name}/{id}`, { list: undefined }),
    {},
    async (uri) => ({ contents: [{ uri: uri.href, text: `${uri.href} of ${name}` }] }),
  )
  mcp.registerTool('more', { description: 'Adds a prompt and a resource', inputSchema: schema('as') }, ({ as }) => {
    prompt(as)
    resource(`memo://${as}`)
    return text('more')
  })
  mcp.registerTool('touch', { description: 'Says that a resource was updated', inputSchema: schema('uri') }, async ({ uri }) => {
    if (era !== 'legacy' || followed.has(uri)) await mcp.server.sendResourceUpdated({ uri })
    return text('touched')
  })
  mcp.server.setRequestHandler('resources/subscribe', async ({ params: { uri } }) => {
    say(`subscribe ${uri}`)
    // The first subscriber of a resource waits until it is released, and is then rejected.
    if (manners.includes('hesitant') && !refused.has(uri)) {
      refused.add(uri)
      await new Promise((resolve) => waiting.push(resolve))
      throw new Error('not yet')
    }
    followed.add(uri)
    return {}
  })
  mcp.server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    say(`unsubscribe ${uri}`)
    followed.delete(uri)
    return {}
  })
  if (manners.includes('slow')) mcp.server.setRequestHandler('prompts/list', () => new Promise(() => undefined))
  return mcp
}

if (speaks === 'session') await make({ era: 'legacy' }).connect(new StdioServerTransport())
else serveStdio(make)
