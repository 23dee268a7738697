import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Tool } from '@unfold-mcp/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { needs } from '../../../../test/needs.ts'
import type { CompletionCache } from './complete.ts'
import { completionResponse } from './response.ts'
import { scripts } from './scripts.ts'

const createIssue: Tool = {
  name: 'create_issue',
  description: "Open an issue; it's quick: \u001b[31mred",
  inputSchema: {
    type: 'object',
    properties: {
      title: { type: 'string' },
      state: { enum: ['open', 'closed', 'in progress', "don't"] },
      labels: { type: 'array', items: { enum: ['bug', 'ui'] } },
      json: { type: 'boolean' },
      'odd name': { type: 'string' },
    },
  },
}
const cache: CompletionCache = { servers: { github: { tools: [createIssue] }, weather: { tools: [] } } }

// The program that the shells complete: it forwards its words to this process, and prints the response.
const program = `#!${process.execPath}
import { connect } from 'node:net'
connect(process.env.ANSWERS).end(JSON.stringify(process.argv.slice(2))).pipe(process.stdout)
`

let folder = ''
let answers: Server
let ran: (words: readonly string[]) => void = () => undefined

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shells-'))
  await mkdir(join(folder, 'bin'))
  await writeFile(join(folder, 'bin', 'package.json'), '{"type":"module"}')
  await writeFile(join(folder, 'bin', 'unfold'), program)
  await chmod(join(folder, 'bin', 'unfold'), 0o755)
  await writeFile(join(folder, 'some-file.txt'), '')
  answers = createServer({ allowHalfOpen: true }, (socket) => {
    let question = ''
    socket.on('data', (data) => {
      question += String(data)
    })
    socket.on('end', () => {
      void answerTo(JSON.parse(question) as string[]).then((answer) => socket.end(answer))
    })
  })
  answers.listen(join(folder, 'answers.sock'))
  await once(answers, 'listening')
})

async function answerTo([first, ...rest]: readonly string[]): Promise<string> {
  if (first === '__complete') return completionResponse(rest, cache)
  ran([...(first === undefined ? [] : [first]), ...rest])
  return ''
}

afterAll(async () => {
  answers.close()
  await rm(folder, { recursive: true, maxRetries: 10, retryDelay: 100 })
})

const prompt = 'READY>'
// It runs a program in a pseudo-terminal.
const terminal = 'script'

/** How to start each shell with our completions and nothing else. */
const shells = {
  bash: async (home: string) => {
    await writeFile(join(home, 'rc'), `PS1='${prompt} '\n${scripts.bash()}`)
    return `bash --noprofile --rcfile ${join(home, 'rc')} -i`
  },
  zsh: async (home: string) => {
    const start = `PROMPT='${prompt} '\nautoload -U compinit && compinit -u -d ${join(home, 'dump')}\n`
    await writeFile(join(home, '.zshrc'), start + scripts.zsh())
    return 'zsh -d -i'
  },
  fish: async (home: string) => {
    // Without this folder fish parses every manual page, which takes longer than the test.
    await mkdir(join(home, 'fish', 'generated_completions'), { recursive: true })
    const start = `set fish_greeting\nfunction fish_prompt; echo '${prompt} '; end\n`
    await writeFile(join(home, 'fish', 'config.fish'), start + scripts.fish())
    return 'fish -i'
  },
}

/** A shell in a terminal, with simulated key presses. */
class Session {
  readonly #child: ChildProcessWithoutNullStreams
  #prompts = 0
  #onPrompt: () => void = () => undefined

  private constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child
    let tail = ''
    child.stdout.on('data', (data) => {
      const parts = (tail + String(data)).split(prompt)
      tail = (parts.at(-1) ?? '').slice(-prompt.length)
      this.#prompts += parts.length - 1
      if (parts.length > 1) this.#onPrompt()
    })
  }

  static async start(shell: keyof typeof shells): Promise<Session> {
    const home = await mkdtemp(join(folder, `${shell}-`))
    const session = new Session(
      spawn(terminal, ['-qec', await shells[shell](home), '/dev/null'], {
        cwd: folder,
        env: {
          PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
          HOME: home,
          ZDOTDIR: home,
          XDG_CONFIG_HOME: home,
          XDG_DATA_HOME: home,
          TERM: 'xterm',
          LC_ALL: 'C.UTF-8',
          ANSWERS: join(folder, 'answers.sock'),
        },
      }),
    )
    await session.#prompted(0)
    return session
  }

  /** Types keys and Enter; resolves with the words that the program received. */
  async type(keys: string): Promise<readonly string[]> {
    const words = new Promise<readonly string[]>((resolve) => {
      ran = resolve
    })
    this.#child.stdin.write(`${keys}\r`)
    const given = await words
    await this.#prompted(this.#prompts)
    return given
  }

  async close(): Promise<void> {
    const ended = once(this.#child, 'close')
    this.#child.stdin.end('exit\r')
    await ended
  }

  #prompted(before: number): Promise<void> {
    return new Promise((resolve) => {
      this.#onPrompt = resolve
      if (this.#prompts > before) resolve()
    })
  }
}

for (const shell of ['bash', 'zsh', 'fish'] as const) {
  const { isMissing, note } = needs(shell, terminal)
  // Only `script` on Linux has these options.
  describe.skipIf(isMissing || process.platform !== 'linux')(`${shell} in a terminal${note}`, () => {
    let session: Session
    beforeAll(async () => {
      session = await Session.start(shell)
    }, 300_000)
    afterAll(() => session.close(), 60_000)

    test.each<[string, string, readonly string[]]>([
      [
        'verbs, servers, tools, flags and values',
        'cal\tgith\tcre\t--sta\top\t',
        ['call', 'github', 'create_issue', '--state', 'open'],
      ],
      ['a tool without the verb', 'gith\tcre\t--la\tb\t', ['github', 'create_issue', '--labels', 'bug']],
      ['a value after an equals sign', 'github create_issue --state=cl\t', ['github', 'create_issue', '--state=closed']],
      ['a value after a name', 'github create_issue state=op\t', ['github', 'create_issue', 'state=open']],
      ['a value with a space', 'github create_issue --state in\t', ['github', 'create_issue', '--state', 'in progress']],
      ['a value with a quote', 'github create_issue --state do\t', ['github', 'create_issue', '--state', "don't"]],
      ['a name that is ours', 'github create_issue --arg:j\t', ['github', 'create_issue', '--arg:json']],
      [
        'past a quoted word',
        'github create_issue --title "a b" --sta\tcl\t',
        ['github', 'create_issue', '--title', 'a b', '--state', 'closed'],
      ],
      [
        'past a word in another script',
        'github create_issue --title größe --sta\tcl\t',
        ['github', 'create_issue', '--title', 'größe', '--state', 'closed'],
      ],
      ['files for the command of a server', 'list -- some-f\t', ['list', '--', 'some-file.txt']],
      ['nothing where nothing is known', 'call nowhere x\ty', ['call', 'nowhere', 'xy']],
    ])('completes %s', async (_, keys, words) => {
      expect(await session.type(`unfold ${keys}`)).toEqual(words)
    })
  })
}
