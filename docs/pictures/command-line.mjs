// Makes docs/pictures/unfold-*.png from a real run at a shell: npm run pictures -- command-line
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spawn } from '@lydell/node-pty'
import { findChromium } from '@unfold-mcp/browser'
import { chromium } from 'playwright-core'
import { Screen } from './screen.mjs'

const columns = 100
const rows = 45
const patienceMs = 20_000
const settledMs = 200
const keys = { enter: '\r', down: '\u001b[B', space: ' ' }
const palette = {
  background: '#161b22',
  text: '#d7dde4',
  colours: [
    ...['#30363d', '#ff7b72', '#56d364', '#e3b341', '#79c0ff', '#d2a8ff', '#56d4dd', '#c9d1d9'],
    ...['#7d8590', '#ffa198', '#7ee787', '#f2cc60', '#a5d6ff', '#e2c5ff', '#b3f0ff', '#ffffff'],
  ],
}

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const home = await realpath(await mkdtemp(join(tmpdir(), 'unfold-picture-')))
try {
  const env = await furnished(home)
  const help = await atShell(env, async ({ screen, types, sees }) => {
    await types(`unfold call hub write_file --help${keys.enter}`)
    await sees('for standard input.\n$ ')
    return screen.lines
  })
  const [list, form] = await atShell(env, async ({ screen, types, sees }) => {
    await types(`unfold call hub${keys.enter}`)
    await sees('Select a tool (12)')
    await types('file')
    await sees('Search: file')
    const found = screen.lines
    await types(keys.down)
    await sees('● write_file')
    await types(keys.enter)
    await sees('path – ')
    await types(`notes/today.txt${keys.enter}`)
    await sees('content')
    await types(`Ask Ada about the hall.${keys.enter}`)
    await sees('Optional parameters')
    await types(keys.down)
    await types(keys.space)
    await sees('◼ append')
    const filled = screen.lines
    await types(keys.enter)
    await sees('○ Yes')
    await types('y')
    await sees('"bytes":23')
    return [found, filled]
  })
  await draw('unfold-help.png', [{ lines: help }])
  await draw('unfold-picker.png', [
    { title: 'A few letters find the tool', lines: list },
    { title: 'A form asks for what it needs', lines: form },
  ])
} finally {
  await rm(home, { recursive: true, force: true, maxRetries: 3 })
}

/** A home where the command is on the path and knows one server: the variables of a shell in it. */
async function furnished(folder) {
  const bin = join(folder, 'bin')
  await mkdir(bin)
  const main = here('../../packages/cli/dist/main.js')
  await writeFile(join(bin, 'unfold'), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`, { mode: 0o755 })
  const hub = { command: process.execPath, args: [here('../../examples/dist/automation-hub/main.js')] }
  await writeFile(join(folder, 'unfold.json'), JSON.stringify({ mcpServers: { hub } }))
  return {
    PATH: `${bin}${delimiter}${process.env.PATH}`,
    HOME: folder,
    UNFOLD_HOME: folder,
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    PS1: '$ ',
  }
}

/** Sits at a shell, and gives back what was made of it there. */
async function atShell(env, use) {
  const terminal = spawn('/bin/sh', ['-i'], { name: env.TERM, cols: columns, rows, cwd: env.HOME, env })
  const screen = new Screen(columns, rows)
  let heardAt = Date.now()
  let failure
  let isOver = false
  terminal.onData((data) => {
    heardAt = Date.now()
    try {
      screen.write(data)
    } catch (error) {
      failure ??= error
    }
  })
  const ended = new Promise((resolve) => {
    terminal.onExit(() => {
      isOver = true
      resolve()
    })
  })
  const sees = async (wanted) => {
    const until = Date.now() + patienceMs
    for (;;) {
      if (failure !== undefined) throw failure
      // What comes with it may still be on its way.
      if (screen.text.includes(wanted) && Date.now() - heardAt >= settledMs) return
      if (Date.now() > until) throw new Error(`Not seen: ${wanted}\n--- seen instead:\n${screen.text}`)
      await pause(50)
    }
  }
  const types = async (text) => {
    for (const key of text.startsWith('\u001b') ? [text] : text) {
      // What is there before the key is no answer to it.
      heardAt = Date.now()
      terminal.write(key)
      await pause(20)
    }
  }
  try {
    await sees('$ ')
    return await use({ screen, sees, types })
  } finally {
    if (!isOver) terminal.kill('SIGKILL')
    await ended
  }
}

/** Draws windows, one below the other, as one picture. */
async function draw(name, windows) {
  const executablePath = findChromium({ platform: process.platform, variables: process.env })
  const browser = await chromium.launch({ executablePath })
  try {
    const page = await browser.newPage({ deviceScaleFactor: 2, viewport: { width: 1_000, height: 300 } })
    await page.setContent(picture(windows))
    const file = here(name)
    await writeFile(file, await page.locator('main').screenshot({ omitBackground: true }))
    console.log(file)
  } finally {
    await browser.close()
  }
}

function picture(windows) {
  const { background, text } = palette
  const shown = windows.map(
    ({ title = '', lines }) =>
      `<section><header><i></i><i></i><i></i><b>${escaped(title)}</b></header><pre>${lines.map(row).join('\n')}</pre></section>`,
  )
  return `<!doctype html><meta charset="utf-8"><style>
    * { box-sizing: border-box; margin: 0 }
    main { display: inline-grid; gap: 16px; padding: 1px }
    section { border-radius: 9px; overflow: hidden; background: ${background}; color: ${text}; border: 1px solid #30363d }
    header { display: flex; gap: 7px; align-items: center; height: 30px; padding: 0 12px; background: #252b33; font: 13px "DejaVu Sans", "Liberation Sans", sans-serif }
    header i { width: 11px; height: 11px; border-radius: 50%; background: #4b535d }
    header b { flex: 1; text-align: center; font-weight: 400; color: #aab3bd; margin-right: 47px }
    /* Lines exactly as high as the letters: bars that go on from line to line have no gaps. */
    pre { font: 13.7px/16px "DejaVu Sans Mono", monospace; width: calc(${columns}ch + 32px); padding: 12px 16px 14px; font-variant-ligatures: none }
  </style><main>${shown.join('')}</main>`
}

/** A line of cells as HTML, in pieces of one style. */
function row(cells) {
  const pieces = []
  for (const { character, style } of cells) {
    const last = pieces.at(-1)
    if (last?.style === style) last.text += character
    else pieces.push({ style, text: character })
  }
  return pieces.map(({ style, text }) => `<span style="${css(style)}">${escaped(text)}</span>`).join('')
}

function css({ colour, behind, bold, dim, italic, underlined, inverse, hidden, struck }) {
  const ink = palette.colours[colour] ?? palette.text
  const paper = palette.colours[behind] ?? palette.background
  const lines = [underlined && 'underline', struck && 'line-through'].filter(Boolean)
  const rules = [
    `color:${hidden ? 'transparent' : inverse ? paper : ink}`,
    (inverse || behind !== undefined) && `background:${inverse ? ink : paper}`,
    bold && 'font-weight:700',
    dim && 'opacity:.62',
    italic && 'font-style:italic',
    lines.length > 0 && `text-decoration:${lines.join(' ')}`,
  ]
  return rules.filter(Boolean).join(';')
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
