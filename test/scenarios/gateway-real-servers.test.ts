import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client as ClientOne } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as TransportOne } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { home, servers } from '../../packages/cli/test/command.ts'
import { type Gatewayed, runningGateway } from '../../packages/gateway/test/faults/running.ts'
import { gatewayFolder } from '../../packages/gateway/test/gateway-file.ts'
import { textOf } from '../replies.ts'

const program = ([command, ...args]: readonly string[]) => ({ command, args })

/** A client of any SDK: tool names, and the text of a result. */
interface Caller {
  names(): Promise<readonly string[]>
  text(name: string, args: Record<string, unknown>): Promise<string>
  close(): Promise<void>
}

describe('servers from npm behind one gateway', () => {
  let folder: Awaited<ReturnType<typeof gatewayFolder>>
  let all: Gatewayed
  let file = ''

  beforeAll(async () => {
    folder = await gatewayFolder()
    file = join(folder.path, 'letter.txt')
    await writeFile(file, 'Dear reader')
    all = await runningGateway(
      {
        everything: program(servers.everything),
        files: program(servers.files(folder.path)),
        memory: { ...program(servers.memory), env: { MEMORY_FILE_PATH: join(folder.path, 'memory.jsonl') } },
        thinking: program(servers.thinking),
      },
      { folder: folder.path },
    )
    const known = ['everything__echo', 'files__read_text_file', 'memory__create_entities', 'thinking__sequentialthinking']
    await Promise.all(known.map((name) => all.lists(name)))
  }, 300_000)

  afterAll(async () => {
    await all.close()
    await folder[Symbol.asyncDispose]()
  })

  const callers: Readonly<Record<string, () => Promise<Caller>>> = {
    async 'a client of the first SDK'() {
      const client = new ClientOne({ name: 'one', version: '1.0.0' })
      const transport = new TransportOne(new URL(all.url ?? ''))
      await client.connect(transport)
      return {
        names: async () => (await client.listTools()).tools.map(({ name }) => name),
        text: async (name, args) => JSON.stringify((await client.callTool({ name, arguments: args })).content),
        async close() {
          await transport.terminateSession()
          await client.close()
        },
      }
    },
    'a client of the second SDK with a session': () => second('session'),
    'a client of the second SDK without one': () => second('stateless'),
    async 'the unfold command'() {
      const own = await home()
      const unfold = async (...args: readonly string[]): Promise<string> => {
        const { code, stdout, stderr } = await own.unfold([...args, '--server', all.url ?? '', '--quiet'])
        expect(`${code} ${stderr}`).toBe('0 ')
        return stdout
      }
      return {
        names: async () => (await unfold('list', '--names')).split('\n'),
        text: (name, args) => unfold('call', name, '--args', JSON.stringify(args)),
        close: async () => own[Symbol.asyncDispose](),
      }
    },
  }

  async function second(era: 'session' | 'stateless'): Promise<Caller> {
    const client = await all.connect(era)
    return {
      names: () => client.names(),
      text: async (name, args) => textOf(await client.call(name, args)),
      close: async () => client[Symbol.asyncDispose](),
    }
  }

  test.each(Object.entries(callers))('answer %s', async (_name, connected) => {
    const caller = await connected()
    try {
      const names = await caller.names()
      for (const server of ['everything', 'files', 'memory', 'thinking'])
        expect(names.filter((name) => name.startsWith(`${server}__`)).length).toBeGreaterThan(0)
      expect(await caller.text('everything__echo', { message: 'hello there' })).toContain('hello there')
      expect(await caller.text('files__read_text_file', { path: file })).toContain('Dear reader')
      const entity = { name: 'Ada', entityType: 'person', observations: ['writes programs'] }
      await caller.text('memory__create_entities', { entities: [entity] })
      expect(await caller.text('memory__search_nodes', { query: 'programs' })).toContain('Ada')
      const thought = { thought: 'So far so good', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 }
      expect(await caller.text('thinking__sequentialthinking', thought)).toContain('thoughtHistoryLength')
    } finally {
      await caller.close()
    }
  })
})
