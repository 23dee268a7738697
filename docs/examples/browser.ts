//#region all
import { Baselines, browserToolbox, findChromium, launchChromium, Recording, Redactor, watchBrowser } from '@unfold-mcp/browser'
import { listen } from '@unfold-mcp/server'

/** Watches a page in a browser of its own, and serves what it sees. */
export async function watchPage(url: string, folder: string) {
  const executablePath = findChromium({ platform: process.platform, variables: process.env })
  const redactor = new Redactor({ patterns: [{ name: 'order', pattern: 'ORDER-\\d+' }] })
  const recording = new Recording({ redactor, limits: { network: { entries: 50, bytes: 1_000_000 } } })
  const browser = await watchBrowser(await launchChromium({ executablePath, headless: true }), recording)
  const toolbox = browserToolbox({
    recording,
    browser,
    baselines: new Baselines(),
    sessions: `${folder}/sessions`,
    output: `${folder}/made`,
  })
  const served = await listen(toolbox, { port: 0 })
  await browser.open(url)
  return { url: served.url, close: () => Promise.all([served.close(), browser.close()]) }
}
//#endregion
