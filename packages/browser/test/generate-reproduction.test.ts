import { expect, test } from 'vitest'
import { reproduction } from '../src/generate/script/reproduction.ts'
import type { UserAction } from '../src/records/records.ts'
import { describeInChromium } from './chromium.ts'
import { found, RecordSequence } from './generate-records.ts'
import { runScript } from './generate-running.ts'
import { startServer } from './generate-server.ts'
import { startSite } from './site.ts'

const slow = { timeout: 300_000 }

/** An order as capture would record it, including the events that the browser derives from others. */
function ordering(url: string): readonly UserAction[] {
  const sequence = new RecordSequence()
  const front = `${url}/`
  const order = found('#order > button', { testId: 'order', role: { role: 'button', name: 'Order' }, text: 'Order' })
  const gift = found('input[name="gift"]', { role: { role: 'checkbox', name: 'It is a gift' } })
  const email = found('input[name="email"]', { placeholder: 'you@example.com' })
  return [
    sequence.action('navigation', front, { cause: 'typed' }),
    sequence.action(
      'click',
      front,
      found('section:nth-of-type(2) > button:nth-of-type(3)', { testId: 'add', text: 'Add a thing' }),
    ),
    sequence.action('scroll', front, { scroll: { x: 0, y: 300 } }),
    sequence.action('input', front, { ...found('input[name="name"]', { label: 'Name' }), value: 'Ada "the first" Lovelace' }),
    sequence.action('input', front, { ...email, value: 'ada@example.com' }),
    sequence.action('input', front, { ...found('input[name="password"]', { label: 'Password' }), secret: true }),
    sequence.action('select', front, { ...found('select[name="size"]', { label: 'Size' }), value: 'l' }),
    sequence.action('click', front, gift),
    sequence.action('check', front, { ...gift, checked: true }),
    sequence.action('click', front, order),
    sequence.action('submit', front, found('#order')),
    sequence.action('navigation', `${url}/ordered`, { cause: 'form' }),
    sequence.action('click', `${url}/ordered`, found('a', { role: { role: 'link', name: 'Back' }, text: 'Back' })),
    sequence.action('navigation', front, { cause: 'link' }),
    sequence.action('click', front, found('section > button:nth-of-type(6)', { testId: 'push' })),
    sequence.action('navigation', `${url}/pushed`, { cause: 'script' }),
    sequence.action('navigation', front, { cause: 'history' }),
    sequence.action('key', front, { ...email, key: 'Tab' }),
    sequence.action('navigation', front, { cause: 'reload' }),
  ]
}

describeInChromium('a reproduction script', () => {
  test('the script repeats the actions, and reads secrets from the environment', slow, async () => {
    await using site = await startSite()
    const { code, output } = await runScript(reproduction(ordering(site.url)), { UNFOLD_SECRET_1: 'from outside' })
    expect(output).toContain('All 14 steps were repeated.')
    expect(code).toBe(0)
    const form = site.requests.find(({ method, path }) => method === 'POST' && path === '/ordered')
    expect(Object.fromEntries(new URLSearchParams(form?.body))).toEqual({
      name: 'Ada "the first" Lovelace',
      email: 'ada@example.com',
      password: 'from outside',
      card: '',
      size: 'l',
      gift: 'on',
    })
    expect(site.requests.filter(({ method, path }) => method === 'POST' && path === '/api/items')).toHaveLength(1)
  })

  test('Enter in a field submits the form once, although the browser also clicks its button', slow, async () => {
    await using site = await startSite()
    const sequence = new RecordSequence()
    const front = `${site.url}/`
    const name = found('input[name="name"]', { label: 'Name' })
    const pressed = sequence.action('key', front, { ...name, key: 'Enter' })
    const actions = [
      sequence.action('input', front, { ...name, value: 'Ada' }),
      { ...pressed, at: pressed.at + 2_000 },
      { ...sequence.action('click', front, found('#order > button', { testId: 'order' })), at: pressed.at + 2_001 },
      { ...sequence.action('submit', front, found('#order')), at: pressed.at + 2_001 },
      { ...sequence.action('navigation', `${site.url}/ordered`, { cause: 'form' }), at: pressed.at + 2_050 },
    ]
    const { code, output } = await runScript(reproduction(actions))
    expect(output).toContain('All 3 steps were repeated.')
    expect(code).toBe(0)
    expect(site.requests.filter(({ path }) => path === '/ordered')).toHaveLength(1)
  })

  test('a page that opens in a new tab is used there', slow, async () => {
    await using site = await startSite()
    await using server = await startServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<a href="${site.url}/second" target="_blank">Elsewhere</a>`)
    })
    const [first, second] = [new RecordSequence('tab-1'), new RecordSequence('tab-2')]
    second.wait(1_000)
    const actions = [
      first.action('navigation', `${server.url}/`, { cause: 'typed' }),
      first.action('click', `${server.url}/`, found('a', { text: 'Elsewhere' })),
      second.action('navigation', `${site.url}/second`, { cause: 'link' }),
      second.action('click', `${site.url}/second`, found('a', { role: { role: 'link', name: 'Back' } })),
      second.action('navigation', `${site.url}/`, { cause: 'link' }),
    ]
    const { code, output } = await runScript(reproduction(actions))
    expect(output).toContain('All 3 steps were repeated.')
    expect(code).toBe(0)
    expect(site.requests.map(({ path }) => path)).toEqual(expect.arrayContaining(['/second', '/']))
  })

  test('after a link to the same page, the script waits for the new load and does not click on the old one', slow, async () => {
    let loaded = 0
    await using server = await startServer((request, response) => {
      if (request.url === '/') loaded += 1
      response.writeHead(200, { 'content-type': 'text/html' })
      // Late, so that the previous page stays for a while.
      setTimeout(() => response.end(`<a href="/">Again</a><a id="on" href="/on?after=${loaded}">On</a>`), 300)
    })
    const { url } = server
    const sequence = new RecordSequence()
    const actions = [
      sequence.action('navigation', `${url}/`, { cause: 'typed' }),
      sequence.action('click', `${url}/`, found('a:nth-of-type(1)', { text: 'Again' })),
      sequence.action('navigation', `${url}/`, { cause: 'link' }),
      sequence.action('click', `${url}/`, found('#on', { text: 'On' })),
      sequence.action('navigation', `${url}/on?after=2`, { cause: 'link' }),
    ]
    const { code, output } = await runScript(reproduction(actions))
    expect(output).toContain('All 3 steps were repeated.')
    expect(code).toBe(0)
  })

  test('an element without a name is selected by its position', slow, async () => {
    await using site = await startSite()
    const sequence = new RecordSequence()
    const front = `${site.url}/`
    // Nine buttons have this role, and none has this name.
    const many = found('section:nth-of-type(2) > button:nth-of-type(2)', { text: 'thing' })
    const { code } = await runScript(reproduction([sequence.action('click', front, many)]))
    expect(code).toBe(0)
    expect(site.requests.map(({ path }) => path)).toContain('/api/items/2')
  })

  test('a step that cannot be repeated is reported by name, and the script fails', slow, async () => {
    await using site = await startSite()
    const sequence = new RecordSequence()
    const front = `${site.url}/`
    const actions = [
      sequence.action('navigation', front, { cause: 'typed' }),
      sequence.action('click', front, found('nav > a', { testId: 'to-second' })),
      sequence.action('navigation', `${site.url}/third`, { cause: 'link' }),
    ]
    const script = reproduction(actions).replace('setDefaultTimeout(15_000)', 'setDefaultTimeout(2_000)')
    const { code, output } = await runScript(script)
    expect(code).toBe(1)
    expect(output).toContain('Failed at 2. click “to-second”')
    expect(output).toContain('waiting for navigation')
  })

  test('the site can differ from the recorded one', slow, async () => {
    await using site = await startSite()
    const sequence = new RecordSequence()
    const recorded = 'https://shop.example/'
    const actions = [
      sequence.action('navigation', recorded, { cause: 'typed' }),
      sequence.action('click', recorded, found('nav > a', { testId: 'to-second' })),
      sequence.action('navigation', 'https://shop.example/second', { cause: 'link' }),
    ]
    const { code } = await runScript(reproduction(actions, { baseUrl: site.url }))
    expect(code).toBe(0)
  })
})

test('the best selector comes first', () => {
  const sequence = new RecordSequence()
  const everything = {
    testId: 'the-id',
    role: { role: 'button', name: 'The role' },
    label: 'The label',
    placeholder: 'The placeholder',
    text: 'The text',
  }
  const { testId: _testId, ...withoutId } = everything
  const { role: _role, ...withoutRole } = withoutId
  const { label: _label, ...withoutLabel } = withoutRole
  const { placeholder: _placeholder, ...withoutPlaceholder } = withoutLabel
  const ways = [everything, withoutId, withoutRole, withoutLabel, withoutPlaceholder, {}].map((selectors) => {
    const script = reproduction([sequence.action('click', 'http://127.0.0.1/', found('#a', selectors))])
    return /one\((page.*)\)\n/.exec(script)?.[1]
  })
  expect(ways).toEqual([
    'page.getByTestId("the-id"), page.locator("css=#a")',
    'page.getByRole("button", { name: "The role", exact: true }), page.locator("css=#a")',
    'page.getByLabel("The label", { exact: true }), page.locator("css=#a")',
    'page.getByPlaceholder("The placeholder", { exact: true }), page.locator("css=#a")',
    'page.getByText("The text", { exact: true }), page.locator("css=#a")',
    'page.locator("css=#a")',
  ])
})

test('a script that would be too long contains the newest actions, with a comment', () => {
  const sequence = new RecordSequence()
  const actions = Array.from({ length: 1_000 }, (_, i) =>
    sequence.action('click', 'http://127.0.0.1/', found(`#button-${i}`, { text: `Button ${i}` })),
  )
  const script = reproduction(actions, { limit: 20_000 })
  expect(script.length).toBeLessThanOrEqual(20_000)
  expect(script).toMatch(/Left out: the \d{3} oldest actions/)
  expect(script).toContain('"css=#button-999"')
  expect(script).not.toContain('"css=#button-0"')
})

test('actions that cannot be repeated are omitted with a comment', () => {
  const sequence = new RecordSequence()
  const page = 'http://127.0.0.1/'
  const script = reproduction([
    sequence.action('navigation', 'javascript:alert(1)', { cause: 'typed' }),
    sequence.action('navigation', page, { cause: 'typed' }),
    sequence.action('key', page, { ...found('#a'), key: 'Unidentified' }),
    sequence.action('input', page, { ...found('#file'), value: 'C:\\fakepath\\letter.pdf' }),
    sequence.action('click', page),
  ])
  expect(script.match(/^\/\/ Left out: .*/gm)).toEqual([
    '// Left out: 1 action, because it was on a page that has no usual address.',
    '// Left out: 1 action, because it was a key that cannot be pressed by its name.',
    '// Left out: 1 action, because a file was chosen, and which one is not known.',
    '// Left out: 1 action, because nothing tells which element it was.',
  ])
  expect(script).not.toContain('javascript:')
})

test('an action that is reported on navigation comes before the navigation', () => {
  const sequence = new RecordSequence()
  const [first, second] = ['http://127.0.0.1/first', 'http://127.0.0.1/second']
  const opened = sequence.action('navigation', first, { cause: 'typed' })
  const typed = sequence.action('input', first, { ...found('#name'), value: 'Ada' })
  const left = sequence.action('navigation', second, { cause: 'typed' })
  const script = reproduction([opened, left, typed])
  expect(script).toBe(reproduction([opened, typed, left]))
  expect(script.indexOf('fill("Ada")')).toBeLessThan(script.indexOf('at("/second")'))
})

test('a page without a recorded navigation is opened before its first action', () => {
  const sequence = new RecordSequence()
  const [first, second] = ['http://127.0.0.1/first', 'http://127.0.0.1/second']
  const clicked = sequence.action('click', first, found('a', { text: 'Next' }))
  const left = sequence.action('navigation', second, { cause: 'link' })
  // The page reports the click only on navigation.
  const script = reproduction([left, clicked])
  expect(script).toBe(reproduction([clicked, left]))
  expect(script.indexOf('goto(at("/first")')).toBeGreaterThan(0)
  expect(script.indexOf('goto(at("/first")')).toBeLessThan(script.indexOf('"Next"'))
  expect(script).not.toContain('goto(at("/second")')
})

test('actions in a frame are repeated on the page that contains the frame', () => {
  const sequence = new RecordSequence()
  const clicked = sequence.action('click', 'http://elsewhere.example/framed', {
    ...found('#inside'),
    pageUrl: 'http://127.0.0.1/frames',
  })
  const script = reproduction([clicked])
  expect(script).toContain('goto(at("/frames")')
  expect(script).not.toContain('goto("http://elsewhere.example/framed"')
  expect(script).toContain('frameAt(')
})

test('options that were selected together are selected together again', () => {
  const sequence = new RecordSequence()
  const chosen = sequence.action('select', 'http://127.0.0.1/', { ...found('#sizes'), value: 's\nl' })
  expect(reproduction([chosen])).toContain('.selectOption(["s", "l"])')
})

test('the same actions produce the same script', () => {
  expect(reproduction(ordering('http://127.0.0.1:1'))).toBe(reproduction(ordering('http://127.0.0.1:1')))
})
