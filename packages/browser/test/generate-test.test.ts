import type { RequestListener } from 'node:http'
import { expect, test } from 'vitest'
import { playwrightTest } from '../src/generate/script/playwright-test.ts'
import { describeInChromium } from './chromium.ts'
import { everyKind, found, RecordSequence } from './generate-records.ts'
import { compileSpec, runSpec } from './generate-running.ts'
import { type Server, startServer } from './generate-server.ts'

const slow = { timeout: 300_000 }

/** Behaviour of the shop; the defaults are as recorded. */
interface Behaviour {
  readonly saving?: number
  readonly throws?: boolean
  readonly leadsTo?: string
  readonly button?: string
}

/** A shop that can be broken in one aspect at a time. */
async function startShop({
  saving = 201,
  throws = false,
  leadsTo = '/saved',
  button = 'Save it',
}: Behaviour = {}): Promise<Server> {
  const page = `<!doctype html><label>Name <input id="name"></label><button data-testid="save">${button}</button>
<label><input id="gift" type="checkbox"> Gift</label>
<script>
fetch('/api/things')
document.querySelector('button').addEventListener('click', async () => {
  const { status } = await fetch('/api/things', { method: 'POST', body: document.querySelector('input').value })
  await fetch('/api/things/' + Date.now())
  ${throws ? `setTimeout(() => { throw new Error('broken') })` : ''}
  setTimeout(() => { location.href = '${leadsTo}' }, 100)
})
</script>`
  const answer: RequestListener = ({ method, url = '' }, response) => {
    if (!url.startsWith('/api'))
      response.writeHead(200, { 'content-type': 'text/html' }).end(url === '/' ? page : '<h1>Saved</h1>')
    else response.writeHead(method === 'POST' ? saving : 200, { 'content-type': 'application/json' }).end('{}')
  }
  return await startServer(answer)
}

/** The test generated from using the working shop. */
function recorded({ withException = false } = {}): string {
  const sequence = new RecordSequence()
  const url = 'http://shop.example'
  const front = `${url}/`
  const pageUrl = front
  const opened = sequence.action('navigation', front, { cause: 'typed' })
  const loaded = [
    sequence.request(front, { type: 'document', pageUrl }),
    sequence.request(`${url}/api/things`, { pageUrl }),
    sequence.request('https://counter.elsewhere.example/hit', { pageUrl }),
  ]
  const filled = sequence.action('input', front, { ...found('#name', { label: 'Name' }), value: 'Ada' })
  const checked = sequence.action('check', front, { ...found('#gift', { label: 'Gift' }), checked: true })
  const clicked = sequence.action('click', front, found('button', { testId: 'save', text: 'Save it' }))
  const saved = [
    sequence.request(`${url}/api/things`, { pageUrl, method: 'POST', status: 201 }),
    sequence.request(`${url}/api/things/1767348000123`, { pageUrl }),
  ]
  const left = sequence.action('navigation', `${url}/saved`, { cause: 'script' })
  return playwrightTest({
    title: 'saving a thing',
    actions: [opened, filled, checked, clicked, left],
    network: [...loaded, ...saved],
    logs: withException
      ? [sequence.log('error', 'Uncaught Error: broken', { from: 'exception' })]
      : [sequence.log('error', 'a line')],
  })
}

describeInChromium('a generated test', () => {
  test('the test passes as long as the site behaves as recorded', slow, async () => {
    await using shop = await startShop()
    const { code, output } = await runSpec(recorded(), { UNFOLD_BASE_URL: shop.url })
    expect(output).toContain('1 passed')
    expect(code).toBe(0)
  })

  test('the test fails and names the request if a response differs', slow, async () => {
    await using shop = await startShop({ saving: 500 })
    const { code, output } = await runSpec(recorded(), { UNFOLD_BASE_URL: shop.url })
    expect(code).toBe(1)
    expect(output).toMatch(/POST http:\/\/127.0.0.1:\d+\/api\/things is answered with 201/)
    expect(output).toMatch(/\+\s+500/)
  })

  test('the test fails if a new exception is thrown', slow, async () => {
    await using shop = await startShop({ throws: true })
    const { code, output } = await runSpec(recorded(), { UNFOLD_BASE_URL: shop.url })
    expect(code).toBe(1)
    expect(output).toContain('exceptions that nobody caught')
  })

  test('an exception that was already recorded is not a failure', slow, async () => {
    await using shop = await startShop({ throws: true })
    const { code } = await runSpec(recorded({ withException: true }), { UNFOLD_BASE_URL: shop.url })
    expect(code).toBe(0)
  })

  test('the test fails if the page navigates elsewhere', slow, async () => {
    await using shop = await startShop({ leadsTo: '/lost' })
    const { code, output } = await runSpec(recorded().replaceAll('(15_000)', '(3_000)'), { UNFOLD_BASE_URL: shop.url })
    expect(code).toBe(1)
    expect(output).toContain('4. click “Save it”')
  })

  test('the test fails if the clicked element has another text', slow, async () => {
    await using shop = await startShop({ button: 'Buy it' })
    const { code, output } = await runSpec(recorded(), { UNFOLD_BASE_URL: shop.url })
    expect(code).toBe(1)
    expect(output).toContain('Save it')
  })
})

test('it asserts only responses of the site itself, and only the presence of parts that vary', () => {
  expect(recorded().match(/(?<=await )answered\(.*/g)).toEqual([
    'answered("GET", at("/"), 200)',
    'answered("GET", at("/api/things"), 200)',
    'answered("POST", at("/api/things"), 201)',
    'answered("GET", at("/api/things/*"), 200)',
  ])
})

test('it asserts responses of automatic page loads, and nothing that came long after', () => {
  const sequence = new RecordSequence()
  const url = 'http://shop.example'
  const network = [
    sequence.request(`${url}/api/before`),
    sequence.request(`${url}/`, { type: 'document' }),
    sequence.request(`${url}/api/things`),
  ]
  sequence.wait(60_000)
  network.push(sequence.request(`${url}/api/polled`))
  const spec = playwrightTest({ actions: [sequence.action('click', `${url}/`, found('button'))], network })
  expect(spec.match(/(?<=await )answered\(.*/g)).toEqual([
    'answered("GET", at("/"), 200)',
    'answered("GET", at("/api/things"), 200)',
  ])
})

test('an endpoint with varying responses within a step is not asserted', () => {
  const sequence = new RecordSequence()
  const page = 'http://shop.example/'
  const actions = [sequence.action('click', page, found('button'))]
  const network = [202, 202, 200].map((status) => sequence.request('http://shop.example/api/job', { status }))
  expect(playwrightTest({ actions, network })).not.toContain('await answered(')
})

test('the generated test compiles', slow, async () => {
  const network = [{ ...new RecordSequence().request('http://shop.example/api/items'), at: Number.MAX_SAFE_INTEGER }]
  expect(await compileSpec(playwrightTest({ actions: everyKind(), network }))).toEqual({ code: 0, output: '' })
  expect(await compileSpec(recorded())).toEqual({ code: 0, output: '' })
})
