/**
 * A client that knows no tool by name: it generates its menu, questions and help from the tools of the server, and updates them
 * when the server changes.
 *
 *   npm run -s example -- adaptive-client                                  with the plugin-folder example
 *   npm run -s example -- adaptive-client http://127.0.0.1:8000/mcp        with a server at a URL
 *   npm run -s example -- adaptive-client npx -y some-server               with any other program
 */
import { type CallResult, type Change, type Connection, isClientError } from '@unfold-mcp/client'
import { formOf, printable, type Tool } from '@unfold-mcp/core'
import { askFor } from './question.ts'
import { shown, type Terminal } from './terminal.ts'

const maxShown = 30

/** Runs the menu until the user leaves or the server disconnects. */
export async function converse(connection: Connection, terminal: Terminal): Promise<void> {
  const { server, instructions } = connection
  terminal.say(`${printable(server.title ?? server.name)} ${printable(server.version)}`)
  if (instructions !== undefined) terminal.say(shown(instructions))
  let tools = await connection.tools()
  const changes = connection.changes()
  const following = follow(changes, (change) => {
    tools = change.tools
    terminal.say(changeText(change))
  })
  terminal.say(menuText(tools))
  try {
    for (;;) {
      const line = (await terminal.ask('> '))?.trim()
      if (line === undefined || line === 'quit') return
      const tool = toolFor(tools, line)
      if (tool === undefined) terminal.say(menuText(matching(tools, line), line))
      else if (!(await used(connection, tool, terminal))) return
    }
  } finally {
    changes.close()
    await following
  }
}

async function follow(changes: AsyncIterable<Change>, tell: (change: Change) => void): Promise<void> {
  try {
    for await (const change of changes) tell(change)
  } catch (error) {
    // The server has disconnected; the next call reports it.
    if (!isClientError(error)) throw error
  }
}

/** Returns the tool that a line selects, by number or name. */
const toolFor = (tools: readonly Tool[], line: string): Tool | undefined =>
  tools.find(({ name }) => name === line) ?? (/^\d+$/u.test(line) ? tools[Number(line) - 1] : undefined)

const matching = (tools: readonly Tool[], line: string): readonly Tool[] => {
  const word = line.toLowerCase()
  return tools.filter(({ name, title = '', description = '' }) => `${name} ${title} ${description}`.toLowerCase().includes(word))
}

/** Asks for the arguments, calls the tool and prints the result; `false` if the user left. */
async function used(connection: Connection, tool: Tool, terminal: Terminal): Promise<boolean> {
  if (tool.description !== undefined) terminal.say(shown(tool.description))
  const args = await askFor(formOf(tool.inputSchema).fields, terminal)
  if (args === undefined) return false
  try {
    const onProgress = ({
      progress,
      total,
      message = '',
    }: {
      progress: number
      total?: number | undefined
      message?: string | undefined
    }): void => terminal.say(`  ${progress}${total === undefined ? '' : ` of ${total}`} ${printable(message)}`)
    terminal.say(resultText(await connection.call(tool.name, args, { onProgress })))
  } catch (error) {
    if (!isClientError(error)) throw error
    terminal.say(shown(error.message))
  }
  return true
}

function menuText(tools: readonly Tool[], word = ''): string {
  if (tools.length === 0) return word === '' ? 'The server has no tools now.' : `No tool goes by "${printable(word)}".`
  const lines = tools.slice(0, maxShown).map(({ name, description = '' }, index) => {
    const [about = ''] = description.split('\n')
    const place = word === '' ? `${String(index + 1).padStart(3)} ` : '  '
    return `${place}${printable(name)}  ${printable(about, 90)}`
  })
  const rest = tools.length - maxShown
  return [
    ...lines,
    rest > 0
      ? `… and ${rest} more. Type a word to find some of them.`
      : 'A name or number uses a tool, a word finds some, quit ends.',
  ].join('\n')
}

function changeText({ added, removed, changed }: Change): string {
  const changes = [
    ...added.map(({ name }) => `+ ${printable(name)}`),
    ...removed.map(({ name }) => `- ${printable(name)}`),
    ...changed.map(({ after }) => `~ ${printable(after.name)}`),
  ]
  return `The tools changed: ${changes.slice(0, 10).join(', ')}${changes.length > 10 ? ', …' : ''}`
}

function resultText({ content, isError }: CallResult): string {
  const text = content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n')
  return `${isError ? 'It failed: ' : ''}${text === '' ? '(nothing)' : shown(text)}`
}
