import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Home, home, isRunning, servers } from './command.ts'
import { keys, type Person, person } from './terminal.ts'

const desk = ['--', ...servers.desk]
const erase = (count: number): string => '\u007f'.repeat(count)

const at = (
  where: Home,
  args: readonly string[],
  more: { env?: { readonly [name: string]: string }; shell?: string; cwd?: string } = {},
): Person =>
  person(args, {
    cwd: more.cwd ?? where.folder,
    env: { ...where.env, ...more.env },
    ...(more.shell !== undefined && { shell: more.shell }),
  })

// After the command, the shell reports whether the terminal is back in line mode with echo.
const thenState = '"$@"; code=$?; stty -a | tr -d "\\n" | grep -q " icanon.* echo " && echo restored; exit $code'

test('a call without a tool offers a searchable list', async () => {
  await using where = await home()
  await using user = at(where, ['call', ...desk])
  await user.sees('Select a tool (7)')
  user.types('a tabl')
  await user.sees('● book')
  user.types(erase(6))
  await user.sees('● echo')
  user.types(keys.down)
  user.types(keys.down)
  await user.sees('● fail')
  user.types(keys.enter)
  await user.sees('the pencil broke')
  expect(await user.ended).toBe(5)
})

test('missing arguments are prompted for by a form that validates every answer', async () => {
  await using where = await home()
  await using user = at(where, ['call', 'book', '--room', 'hall', ...desk])
  await user.sees('guests – How many come')
  user.types(`9${keys.enter}`)
  await user.sees('Value must be at most 8.')
  user.types(`${erase(1)}three${keys.enter}`)
  await user.sees('Value must be an integer')
  user.types(`${erase(5)}3${keys.enter}`)
  await user.sees('name')
  user.types(`ada${keys.enter}`)
  await user.sees('must match the pattern')
  user.types(`${erase(3)}Ada${keys.enter}`)
  await user.sees('code')
  user.types(`s3cret${keys.enter}`)
  await user.sees('Optional parameters')
  user.types(keys.down)
  user.types(keys.space)
  await user.sees('◼ wishes')
  user.types(keys.enter)
  await user.sees('wishes · 1')
  user.types(`a window${keys.enter}`)
  await user.sees('wishes · 2')
  user.types(keys.enter)
  await user.sees('{"room":"hall","guests":3,"name":"Ada","code":"s3cret","wishes":["a window"]}')
  expect(await user.ended).toBe(0)
  // It appears once: in the result of the tool.
  expect(user.seen.split('s3cret')).toHaveLength(2)
})

test.each([
  ['Esc', keys.escape],
  ['Ctrl-C', keys.interrupt],
])('%s closes the list with 130, and restores the terminal', async (_, key) => {
  await using where = await home()
  await using user = at(where, ['call', ...desk], { shell: thenState })
  await user.sees('Select a tool')
  user.types(key)
  await user.sees('restored')
  expect(await user.ended).toBe(130)
  // The cursor is visible again.
  expect(user.raw.lastIndexOf('\u001b[?25h')).toBeGreaterThan(user.raw.lastIndexOf('\u001b[?25l'))
})

test('Ctrl-C in a form and in a call exits with 130 and stops the server', async () => {
  await using where = await home()
  await using form = at(where, ['call', 'book', ...desk], { shell: thenState })
  await form.sees('guests')
  form.types(keys.interrupt)
  await form.sees('restored')
  expect(await form.ended).toBe(130)
  await using call = at(where, ['call', 'slow', '--steps', '300', ...desk])
  await call.sees(/step \d+ by \d+/u)
  const [, pid] = /by (\d+)/u.exec(call.seen) ?? []
  call.types(keys.interrupt)
  expect(await call.ended).toBe(130)
  expect(isRunning(Number(pid))).toBe(false)
})

test('progress is a bar that disappears when the call is done', async () => {
  await using where = await home()
  await using user = at(where, ['call', 'slow', '--steps', '4', ...desk])
  await user.sees(/slow █+░+ 50% \(2\/4\)/u)
  expect(await user.ended).toBe(0)
  expect(user.raw.trimEnd().endsWith('\r\u001b[2Kdone')).toBe(true)
})

test('a project server runs only after confirmation', async () => {
  await using where = await home()
  const project = join(where.folder, 'project')
  await mkdir(project)
  const [command, ...args] = servers.desk
  await writeFile(
    join(project, '.mcp.json'),
    JSON.stringify({ mcpServers: { theirs: { command, args, env: { KEY: 'hidden-value' } } } }),
  )
  await using declining = at(where, ['list', 'theirs'], { cwd: project })
  await declining.sees('is defined by this project')
  await declining.sees('Run it?')
  declining.types(keys.enter)
  expect(await declining.ended).toBe(6)
  expect(declining.seen).not.toContain('hidden-value')
  await using user = at(where, ['list', 'theirs'], { cwd: project })
  await user.sees('Run it?')
  user.types('y')
  await user.sees('book')
  expect(await user.ended).toBe(0)
  await using again = at(where, ['list', 'theirs'], { cwd: project })
  await again.sees('book')
  expect(again.seen).not.toContain('Run it?')
})

test('prompts work without colours', async () => {
  await using where = await home()
  await using user = at(where, ['call', ...desk], { env: { NO_COLOR: '1' } })
  await user.sees('Select a tool')
  user.types('echo')
  await user.sees('● echo')
  user.types(keys.escape)
  expect(await user.ended).toBe(130)
  expect(user.raw).not.toMatch(/\[(?:[349]\d|2|1)m/u)
})

test('an image is displayed if the terminal supports it, and its file is printed', async () => {
  await using where = await home()
  await using kitty = at(where, ['call', 'paint', ...desk], { env: { KITTY_WINDOW_ID: '1' } })
  await kitty.sees('[image, image/png:')
  expect(kitty.raw).toContain('\u001b_Ga=T,f=100,m=0;iVBORw0KGgo')
  await using iterm = at(where, ['call', 'paint', ...desk], { env: { TERM_PROGRAM: 'iTerm.app' } })
  await iterm.sees('[image, image/png:')
  expect(iterm.raw).toContain('\u001b]1337;File=inline=1;size=')
  await using other = at(where, ['call', 'paint', ...desk])
  await other.sees('[image, image/png:')
  expect(other.raw).not.toContain('iVBORw0KGgo')
})

test('an elicitation is prompted for, and the answer is sent', async () => {
  await using where = await home()
  await using user = at(where, ['call', 'trigger-elicitation-request', '--', ...servers.everything])
  await user.sees('The tool asks:')
  await user.sees('Respond?')
  user.types(keys.down)
  user.types(keys.enter)
  await user.sees(/declined/iu)
  expect(await user.ended).toBe(0)
})

test('the form of an elicitation is validated and sent', async () => {
  await using where = await home()
  const args = ['call', 'asks', '--', ...servers.odd('asks')]
  await using user = at(where, args)
  await user.sees('Who \\u{1b}[2Jare you?')
  await user.sees('Respond?')
  user.types(keys.enter)
  await user.sees('Nick\\u{1b}[2J name')
  user.types(`Al${keys.enter}`)
  await user.sees('at least 3 characters')
  user.types(`ice${keys.enter}`)
  await user.sees('loud: set a value?')
  user.types('y')
  await user.sees('loud')
  user.types('y')
  await user.sees('{"action":"accept","content":{"nick":"Alice","loud":true}}')
  expect(await user.ended).toBe(0)
  await using leaves = at(where, args)
  await leaves.sees('Respond?')
  leaves.types(keys.escape)
  await leaves.sees('{"action":"cancel"}')
  expect(await leaves.ended).toBe(0)
  await using interrupts = at(where, args)
  await interrupts.sees('Respond?')
  interrupts.types(keys.interrupt)
  expect(await interrupts.ended).toBe(130)
})

test('prompts appear on the terminal while the result goes to a file', async () => {
  await using where = await home()
  await using user = at(where, ['call', ...desk], { shell: '"$@" > answer.txt' })
  await user.sees('Select a tool')
  user.types(`echo${keys.enter}`)
  await user.sees('Optional parameters')
  user.types(keys.enter)
  expect(await user.ended).toBe(0)
  expect(await readFile(join(where.folder, 'answer.txt'), 'utf8')).toBe('{}\n')
})

test('end of input cancels the prompt', async () => {
  await using where = await home()
  await using user = at(where, ['call', ...desk], { shell: thenState })
  await user.sees('Select a tool')
  user.types('\u0004')
  await user.sees('restored')
  expect(await user.ended).toBe(130)
})

test('the URL of an elicitation is shown with its host, and opened only after confirmation', async () => {
  await using where = await home()
  const opened = join(where.folder, 'opened')
  const browser = join(where.folder, 'browser')
  await writeFile(browser, `#!/bin/sh\necho "$1" > ${opened}\n`, { mode: 0o755 })
  const args = ['call', 'visit', '--', ...servers.odd('visit')]
  await using declining = at(where, args, { env: { BROWSER: browser } })
  await declining.sees('open a page on pay.example.com')
  declining.types(keys.enter)
  await declining.sees('{"action":"decline"}')
  await expect(readFile(opened)).rejects.toThrow('ENOENT')
  await using user = at(where, args, { env: { BROWSER: browser } })
  await user.sees('https://pay.example.com/now?x=1')
  user.types('y')
  await user.sees('{"action":"accept"}')
  expect(await user.ended).toBe(0)
  await expect.poll(() => readFile(opened, 'utf8').catch(() => '')).toBe('https://pay.example.com/now?x=1\n')
})

test('watch prints changes until Ctrl-C', async () => {
  await using where = await home()
  await using user = at(where, ['watch', '--', ...servers.odd('grows')])
  await user.sees('Press Ctrl-C to stop')
  await user.sees('+ tool_2')
  await user.sees('+ tool_3')
  user.types(keys.interrupt)
  expect(await user.ended).toBe(130)
})
