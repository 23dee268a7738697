// Makes docs/pictures/terminal.svg from a real run of the demo gateway: npm run pictures -- terminal
// With --check it writes nothing, and fails if the picture differs from what the commands print.
import { spawn as start } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spawn } from '@lydell/node-pty'
import { animation, textOf } from './animation.mjs'
import { untilCalm } from './calm.mjs'
import { reproducible } from './reproducible.mjs'
import { Screen } from './screen.mjs'

const columns = 100
const rows = 60
const deadlineMs = 90_000
/** Lines that a reader should see first. */
const marked = /tools, .*tokens/u
const gateway = 'http://127.0.0.1:7420/mcp'
const scenes = [
  { title: 'Seven servers, one endpoint', commands: [{ text: 'npx unfold status', seconds: 5.5 }] },
  { title: 'What a host gets', commands: [{ text: 'npx unfold preview --host codex | head -14', seconds: 4.5 }] },
  {
    title: 'All other tools: found by search, called by name',
    commands: [
      { text: `npx unfold search ${gateway} read a text file --limit 2`, seconds: 2.5 },
      { text: `npx unfold call ${gateway} files__read_text_file --path notes.md`, seconds: 5 },
    ],
  },
]

const root = fileURLToPath(new URL('../../', import.meta.url))
const file = fileURLToPath(new URL('terminal.svg', import.meta.url))
const main = join(root, 'packages/cli/dist/main.js')
const picture = await taken()
if (process.argv.includes('--check')) {
  const committed = await readFile(file, 'utf8')
  if (committed !== picture) {
    const before = committed.split('\n')
    const now = picture.split('\n')
    const at = now.findIndex((line, index) => line !== before[index])
    console.error('docs/pictures/terminal.svg is out of date: run npm run pictures -- terminal')
    console.error(`line ${at + 1} of the picture: ${before[at]}\nline ${at + 1} of a new one:   ${now[at]}`)
    process.exitCode = 1
  }
} else {
  await writeFile(file, picture)
  console.log(file)
}

/** Runs the demo gateway on a free port and the commands at a terminal; returns the picture of it. */
async function taken() {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'unfold-picture-')))
  const env = await environment(home)
  const demo = start(process.execPath, [join(root, 'scripts/start.mjs'), '--port', '0'], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(demo, 'exit')
  try {
    const url = await addressOf(demo, ended)
    await untilCalm(main, env)
    const captured = []
    for (const { title, commands } of scenes) {
      const shown = []
      for (const { text, seconds } of commands) shown.push({ text, seconds, lines: await printed(text, { url, env }) })
      captured.push({ title, commands: shown })
    }
    const texts = captured.flatMap(({ commands }) =>
      commands.map(({ text, lines }) => [`$ ${text}`, ...lines.map(textOf)].join('\n')),
    )
    return animation({ columns, title: 'Unfold in a terminal', description: texts.join('\n\n'), scenes: captured, marked })
  } finally {
    demo.kill('SIGINT')
    await ended
    await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
}

/** Variables of a home that knows nothing of the person who takes the picture. `npx` there runs the command without asking npm. */
async function environment(home) {
  const bin = join(home, 'bin')
  await mkdir(bin)
  await writeFile(join(bin, 'npx'), `#!/bin/sh\nshift\nexec "${process.execPath}" "${main}" "$@"\n`, { mode: 0o755 })
  const { PATH } = process.env
  return {
    PATH: `${bin}${delimiter}${PATH}`,
    HOME: home,
    UNFOLD_HOME: home,
    UNFOLD_DEMO: home,
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
  }
}

/** Address of the demo, once all its servers are ready. */
async function addressOf(demo, ended) {
  let text = ''
  const ready = new Promise((resolve) => {
    demo.stderr.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
      if (text.includes('Ctrl-C')) resolve(/http:\S+\/mcp/u.exec(text)[0])
    })
  })
  const late = new Promise((_, reject) =>
    setTimeout(() => reject(new Error(`The demo is not ready:\n${text}`)), deadlineMs).unref(),
  )
  const failed = ended.then(([code]) => Promise.reject(new Error(`The demo ended with ${code}:\n${text}`)))
  failed.catch(() => undefined)
  return Promise.race([ready, failed, late])
}

/** What a command prints at a terminal, as lines of cells. */
async function printed(command, { url, env }) {
  const line = `${command.replaceAll(gateway, url)}; printf "(exit %s)" $?`
  const terminal = spawn('/bin/sh', ['-c', line], { name: env.TERM, cols: columns, rows, cwd: root, env })
  let text = ''
  const output = await new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`${command} did not end:\n${text}`)), deadlineMs)
    terminal.onData((data) => {
      text += data
      const [, before, code] = /^([\s\S]*)\(exit (\d+)\)$/u.exec(text) ?? []
      if (code === undefined) return
      clearTimeout(late)
      if (code === '0') resolve(before)
      else reject(new Error(`${command} failed:\n${before}`))
    })
  }).finally(() => terminal.kill('SIGKILL'))
  const screen = new Screen(columns, rows)
  screen.write(`\u001b[?25l${reproducible(output, { url, root })}`)
  return screen.lines
}
