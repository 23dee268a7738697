// Makes docs/pictures/browser.png from a real run: npm run pictures -- browser
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Baselines, browserToolbox, findChromium, launchChromium, Recording, Redactor, watchBrowser } from '@unfold-mcp/browser'
import { listen } from '@unfold-mcp/server'
import { runnerImport } from 'vite'

const by = { observe: 'what', analyze: 'target', generate: 'format', configure: 'action' }
const width = 1600

// The site of the tests is TypeScript, which not every Node reads.
const { module } = await runnerImport(fileURLToPath(new URL('../../packages/browser/test/site.ts', import.meta.url)))
const site = await module.startSite()
const executablePath = findChromium({ platform: process.platform, variables: process.env })
const recording = new Recording({ redactor: new Redactor() })
const browser = await watchBrowser(await launchChromium({ executablePath, headless: true }), recording)
const folder = tmpdir()
const toolbox = browserToolbox({ recording, browser, baselines: new Baselines(), sessions: folder, output: folder })
const served = await listen(toolbox, { port: 0 })
const client = new Client({ name: 'picture', version: '1.0.0' }, { versionNegotiation: { mode: 'legacy' } })
try {
  await client.connect(new StreamableHTTPClientTransport(new URL(served.url)))
  const fresh = await listed()
  const { page } = await browser.open(site.url)
  await page.setViewportSize({ width: 720, height: 560 })
  await page.getByTestId('socket').click()
  await page.getByRole('status').filter({ hasText: 'heard' }).waitFor()
  await page.getByTestId('add').click()
  await page.getByTestId('fail').click()
  await page.getByRole('status').filter({ hasText: '500 /api/fail' }).waitFor()
  await page.getByTestId('throw').click()
  await page.waitForTimeout(1_500)
  const used = await listed()
  const asked = { what: 'errors', limit: 2 }
  const answer = await client.callTool({ name: 'observe', arguments: asked })
  const opened = await listed()
  const { content } = await client.callTool({ name: 'observe', arguments: { what: 'actions' } })
  const { records: actions } = JSON.parse(content[1].text)
  await page.evaluate(() => scrollTo(0, 0))
  const shot = (await page.screenshot()).toString('base64')
  const html = picture({ fresh, used, opened, asked, answer: answer.content.map(({ text }) => text), actions, shot })
  const canvas = await page.context().newPage()
  await canvas.setViewportSize({ width, height: 600 })
  await canvas.setContent(html)
  const file = fileURLToPath(new URL('browser.png', import.meta.url))
  await writeFile(file, await canvas.screenshot({ fullPage: true }))
  console.log(file)
} finally {
  await client.close()
  await served.close()
  await browser.close()
  await site.close()
}

/** The tools of a list, with their modes and what they count. */
async function listed() {
  const { tools } = await client.listTools(undefined, { cacheMode: 'bypass' })
  return tools.map(({ name, inputSchema, _meta }) => ({
    name,
    by: by[name],
    modes: (inputSchema.properties[by[name]]?.enum ?? []).map((mode) => ({ mode, count: _meta?.data_counts?.[mode] })),
  }))
}

function picture({ fresh, used, opened, asked, answer, actions, shot }) {
  const [note, json] = answer
  const { records } = JSON.parse(json)
  const said = records.map(({ level, from, text, source }) => JSON.stringify({ level, from, text, source }))
  const done = actions.toReversed().map(({ action, cause, url, selectors }) => {
    const { role, name } = selectors?.role ?? {}
    return `<li><b>${escaped(action)}</b> ${escaped(role === undefined ? `(${cause}) ${url}` : `${role} “${name}”`)}</li>`
  })
  return `<!doctype html><meta charset="utf-8"><style>
    * { box-sizing: border-box; margin: 0 }
    body { width: ${width}px; padding: 28px 32px; background: #f4f5f7; color: #1b1f24; font: 16px/1.4 "DejaVu Sans", "Liberation Sans", sans-serif; display: grid; grid-template-columns: 680px 1fr; gap: 28px }
    h2 { font-size: 18px; margin-bottom: 10px; font-weight: 600 }
    h2 b { display: inline-block; width: 27px; height: 27px; border-radius: 50%; background: #1b1f24; color: #fff; font-size: 15px; text-align: center; line-height: 27px; margin-right: 8px }
    .window { border: 1px solid #b9c0c9; border-radius: 8px; overflow: hidden; background: #fff; margin-bottom: 22px }
    .bar { background: #dde1e6; padding: 7px 12px; font-size: 14px; color: #46505c }
    .window img { display: block; width: 100% }
    .card { background: #fff; border: 1px solid #d3d8de; border-radius: 8px; padding: 13px 16px; margin-bottom: 20px }
    .tool { display: flex; gap: 12px; padding: 4px 0; align-items: baseline }
    .tool code { font: 600 15px "DejaVu Sans Mono", monospace; flex: 0 0 162px }
    .modes { display: flex; flex-wrap: wrap; gap: 5px }
    .mode { border: 1px solid #c3cad2; border-radius: 11px; padding: 1px 9px; font-size: 14px; background: #f7f8fa }
    .mode i { font-style: normal; font-weight: 600; margin-left: 5px; color: #0b5cad }
    .new { background: #dff4e4; border-color: #58a86c }
    pre { font: 13px/1.42 "DejaVu Sans Mono", monospace; white-space: pre-wrap; background: #1b1f24; color: #e3e8ee; border-radius: 8px; padding: 12px 14px }
    pre b { color: #8fd3ff; font-weight: 600 } pre em { color: #ffd479; font-style: normal }
    ol { padding-left: 40px !important } li { padding: 2px 0 }
    pre { margin-bottom: 20px }
    .legend { font-size: 14px; color: #46505c; margin-top: 4px }
  </style>
  <section>
    <h2>The page that is watched, in a real browser</h2>
    <div class="window"><div class="bar">${escaped(site.url)}/</div><img src="data:image/png;base64,${shot}"></div>
    <h2>What the person did, as observe(what: "actions") tells it</h2>
    <ol class="card">${done.join('')}</ol>
  </section>
  <section>
    <h2><b>1</b>A client connects: two tools</h2>
    ${card(fresh, [])}
    <h2><b>2</b>The page is used: modes appear, with counts</h2>
    ${card(used, fresh)}
    <h2><b>3</b>The client observes</h2>
    <pre><b>→ observe ${escaped(JSON.stringify(asked))}</b>\n<em>${escaped(note)}</em>\n${escaped(said.join(',\n'))}</pre>
    <h2><b>4</b>After the first observation: five tools</h2>
    ${card(opened, used)}
    <p class="legend">Green: new in this list. Blue: how much there is, from <code>_meta.data_counts</code>.</p>
  </section>`
}

function card(tools, before) {
  const rows = tools.map(({ name, by: parameter, modes }) => {
    const known = before.find((tool) => tool.name === name)?.modes.map(({ mode }) => mode)
    const isNew = (mode) => before.length > 0 && !(known ?? []).includes(mode)
    const chips = modes.map(
      ({ mode, count }) =>
        `<span class="mode${isNew(mode) ? ' new' : ''}">${escaped(mode)}${count === undefined ? '' : `<i>${count}</i>`}</span>`,
    )
    const call = parameter === undefined ? `${name}(selector)` : `${name}(${parameter})`
    return `<div class="tool"><code>${escaped(call)}</code><div class="modes">${chips.join('')}</div></div>`
  })
  return `<div class="card">${rows.join('')}</div>`
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
