import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestClient, type TestServer, type TestTransport, testServer } from '@unfold-mcp/server/testing'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { Baselines } from '../src/recording/baselines.ts'
import { browserToolbox } from '../src/toolbox.ts'
import { until, type Watching, watching } from './chromium.ts'
import { type Site, startSite } from './site.ts'

/** One recorded browser and the test site for the tests of a file; each test can start its own servers for it. */
export interface Serving {
  readonly site: Site
  readonly watch: Watching
  /** Folder of the generated files. */
  readonly output: string
  /** A freshly started server without any observation. It stops with the test. */
  readonly serve: (testTransport?: TestTransport) => Promise<TestServer>
  /** A client of a new server. */
  readonly connect: (testTransport?: TestTransport) => Promise<TestClient>
  /** A client that has observed once. */
  readonly observing: (testTransport?: TestTransport) => Promise<TestClient>
  /** Opens a page of the site, and clears all records once it is idle. */
  readonly calm: (path?: string) => Promise<void>
  /** Keeps the page busy for a moment, so that there is something new to measure, and measures it. */
  readonly measure: () => Promise<void>
}

const usual: TestTransport = { transport: 'stdio', era: 'session' }
const startMs = 60_000
const restMs = 300

/** Starts browser and site before the tests of the file, and stops them afterwards. */
export function serving(): Serving {
  let all: { readonly site: Site; readonly watch: Watching; readonly folder: string } | undefined
  let servers: TestServer[] = []
  const started = () => {
    if (all === undefined) throw new Error('The browser is started before the tests, not before they are declared.')
    return all
  }
  beforeAll(async () => {
    const [site, watch] = await Promise.all([startSite(), watching()])
    all = { site, watch, folder: await mkdtemp(join(tmpdir(), 'unfold-served-')) }
  }, startMs)
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close()
  })
  afterAll(async () => {
    await all?.watch.browser.close()
    await all?.site.close()
    if (all !== undefined) await rm(all.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  })
  const output = (): string => join(started().folder, 'output')
  const serve = async (testTransport = usual): Promise<TestServer> => {
    const { watch, folder } = started()
    const { browser, recording } = watch
    const sessions = join(folder, 'sessions')
    const box = browserToolbox({ recording, browser, baselines: new Baselines(), sessions, output: output() })
    const server = await testServer(box, testTransport)
    servers = [...servers, server]
    return server
  }
  const connect = async (testTransport?: TestTransport): Promise<TestClient> => (await serve(testTransport)).connect()
  return {
    get site() {
      return started().site
    },
    get watch() {
      return started().watch
    },
    get output() {
      return output()
    },
    serve,
    connect,
    observing: async (testTransport) => {
      const client = await connect(testTransport)
      await client.call('observe', { what: 'page' })
      return client
    },
    calm: async (path = '/second') => {
      const { watch, site } = started()
      const { browser, recording } = watch
      await browser.open('about:blank')
      recording.clear()
      await browser.open(`${site.url}${path}`)
      const isMeasured = (): boolean => [...recording.of('snapshots')].some(({ url }) => url.startsWith(site.url))
      await until('the page is measured', isMeasured)
      await rest(() => recording.seq)
      recording.clear()
    },
    measure: async () => {
      const { page, browser, recording } = started().watch
      await page.evaluate(() =>
        setTimeout(() => {
          for (const end = performance.now() + 120; performance.now() < end; );
        }),
      )
      // The browser reports a long task to the page shortly after it.
      for (let round = 0; round < 50 && recording.of('snapshots').length === 0; round++) {
        await new Promise((resolve) => setTimeout(resolve, 50))
        await browser.snapshot()
      }
    },
  }
}

/** Waits until nothing more is recorded. */
async function rest(seq: () => number): Promise<void> {
  for (let round = 0; round < 30; round++) {
    const before = seq()
    await new Promise((resolve) => setTimeout(resolve, restMs))
    if (seq() === before) return
  }
  throw new Error('The page does not come to rest.')
}
