import fc from 'fast-check'
import { parseAst, transformWithEsbuild } from 'vite'
import { expect, test } from 'vitest'
import { playwrightTest } from '../src/generate/script/playwright-test.ts'
import { reproduction } from '../src/generate/script/reproduction.ts'
import type { NetworkRequest, Selectors, UserAction } from '../src/records/records.ts'
import { describeInChromium } from './chromium.ts'
import { everyKind, RecordSequence } from './generate-records.ts'
import { runScript } from './generate-running.ts'
import { startServer } from './generate-server.ts'

const attacks = [
  `"); process.exit(7); ("`,
  `'); process.exit(7); ('`,
  '`); process.exit(7); (`',
  `\${process.exit(7)}`,
  '*/ process.exit(7) /*',
  '\n process.exit(7) //',
  '\r\n process.exit(7)',
  '\u2028process.exit(7)\u2029',
  '\\"); process.exit(7)//',
  '\u0000\u202e\ufeff\ud800',
  '</script><script>',
  '›‹$1$&',
  'isLike( at( one(',
]
const text = fc.oneof(fc.constantFrom(...attacks), fc.string({ unit: 'binary', maxLength: 30 }), fc.string({ maxLength: 10 }))
const address = fc.oneof(
  text,
  fc.webUrl({ withFragments: true, withQueryParameters: true }),
  text.map((path) => `http://shop.example/${path}`),
  text.map((query) => `http://shop.example/?q=${query}`),
  text.map((script) => `javascript:${script}`),
  text.map((data) => `data:text/html,${data}`),
)
const selectors: fc.Arbitrary<Selectors> = fc.record(
  {
    testId: text,
    role: fc.record({ role: fc.oneof(text, fc.constant('button')), name: text }),
    label: text,
    placeholder: text,
    text,
    css: text,
    xpath: text,
  },
  { requiredKeys: ['css', 'xpath'] },
)
const action: fc.Arbitrary<UserAction> = fc.record(
  {
    seq: fc.nat(),
    at: fc.oneof(fc.nat(5_000), fc.double()),
    tab: fc.oneof(fc.constantFrom('tab-1', 'tab-2'), text),
    action: fc.constantFrom('click', 'input', 'select', 'check', 'key', 'submit', 'scroll', 'navigation'),
    url: address,
    selectors,
    value: text,
    secret: fc.constant(true),
    checked: fc.boolean(),
    key: fc.oneof(text, fc.constantFrom('Enter', 'Tab', ' ')),
    scroll: fc.record({ x: fc.double(), y: fc.double() }),
    cause: fc.oneof(text, fc.constantFrom('typed', 'link', 'form', 'reload', 'history', 'script')),
  },
  { requiredKeys: ['seq', 'at', 'tab', 'action', 'url'] },
)
const request: fc.Arbitrary<NetworkRequest> = fc
  .record({
    url: address,
    method: fc.oneof(text, fc.constant('GET')),
    status: fc.oneof(fc.integer(), fc.constant(200)),
    at: fc.nat(9_000),
  })
  .map((given) => ({ ...new RecordSequence().request('http://shop.example/'), ...given }))

/** All tokens of a script outside its string literals: names, properties and calls. */
function tokens(code: string): ReadonlySet<string> {
  const found = new Set<string>()
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    if ('type' in node && node.type === 'Identifier' && 'name' in node) found.add(String(node.name))
    for (const child of Object.values(node)) visit(child)
  }
  visit(parseAst(code))
  return found
}

// The tokens generated for harmless actions of every kind are the only ones allowed.
const own = (async (): Promise<ReadonlySet<string>> => {
  const network = [{ ...new RecordSequence().request('http://shop.example/api/items'), at: Number.MAX_SAFE_INTEGER }]
  const script = await plain(playwrightTest({ actions: everyKind(), network }))
  return new Set([...tokens(reproduction(everyKind())), ...tokens(script)])
})()

async function plain(code: string): Promise<string> {
  return (await transformWithEsbuild(code, 'recorded.spec.ts', { target: 'es2022', sourcemap: false })).code
}

/** The tokens that are not allowed. */
async function foreign(code: string): Promise<readonly string[]> {
  const known = await own
  return [...tokens(code)].filter((word) => !known.has(word) && !/^(?:page|frame|element|UNFOLD_SECRET_)\d+$/.test(word))
}

const given = fc.record({ title: text, baseUrl: text, executablePath: text }, { requiredKeys: [] })
const actions = fc.array(action, { maxLength: 8 })

test('no text of a page becomes code in a script', async () => {
  await fc.assert(
    fc.asyncProperty(actions, given, async (recorded, options) => {
      expect(await foreign(reproduction(recorded, options))).toEqual([])
    }),
    { numRuns: 300 },
  )
})

test('no text of a page becomes code in a test', async () => {
  await fc.assert(
    fc.asyncProperty(actions, fc.array(request, { maxLength: 6 }), given, async (recorded, network, options) => {
      expect(await foreign(await plain(playwrightTest({ actions: recorded, network, ...options })))).toEqual([])
    }),
    { numRuns: 150 },
  )
})

test('page text in a script is visible', async () => {
  expect(await foreign('await page.goto(evil())')).toEqual(['evil'])
  expect(await foreign('process.exit(7)')).toEqual(['exit'])
})

describeInChromium('a hostile page in a browser', () => {
  test('a page with names that try to break out is replayed like any other', { timeout: 300_000 }, async () => {
    const clicked: string[] = []
    const escaped = (value: string): string => value.replace(/[^\w ]/gu, (each) => `&#${each.codePointAt(0)};`)
    const named = attacks.filter((name) => !['\u0000', '\r', '\n', '\u2028'].some((each) => name.includes(each)))
    const page = named.map((name, i) => `<button data-testid="${escaped(name)}" onclick="report(${i})">x</button>`).join('')
    // Synchronous: the script closes the browser after the last click, and the request must be out by then.
    const report = "const report = (i) => { const x = new XMLHttpRequest(); x.open('GET', '/clicked/' + i, false); x.send() }"
    await using server = await startServer(({ url = '' }, response) => {
      clicked.push(url)
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(`<script>${report}</script>${page}`)
    })
    const front = `${server.url}/`
    const sequence = new RecordSequence()
    const recorded = named.map((testId) =>
      sequence.action('click', front, { selectors: { testId, css: 'none', xpath: '//none' } }),
    )
    const { code, output } = await runScript(reproduction(recorded))
    expect(output).toContain(`All ${named.length + 1} steps were repeated.`)
    expect(code).toBe(0)
    expect(clicked.filter((url) => url.startsWith('/clicked/'))).toHaveLength(named.length)
  })
})
