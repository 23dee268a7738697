/** The front page: little happens on load (one log line, one request), and a control triggers everything else. */
export const front = `<!doctype html>
<html>
<head>
<meta charset="utf-8">
<title>Shop of small things</title>
<style>
  body { font: 16px sans-serif; margin: 2rem; max-width: 40rem }
  .faint { color: #ccc; background: #fff }
  .tall { height: 2000px }
  label, button, select { margin: 4px }
</style>
</head>
<body>
<header><h1>Shop of small things</h1></header>
<nav><a href="/second" data-testid="to-second">Second page</a> <a href="#details">Details</a></nav>
<main>
  <img src="/picture.svg" width="120" height="60">
  <p class="faint">This sentence is hardly to be seen.</p>
  <input id="nameless" name="nameless">
  <div id="notice" style="height: 300px" hidden>A notice that moves everything below it.</div>
  <h2 id="details">Things</h2>
  <ul id="items"></ul>

  <section aria-label="Talk">
    <button data-testid="log">Write to the console</button>
    <button data-testid="throw">Throw an error</button>
    <button data-testid="reject">Reject a promise</button>
    <button data-testid="block">Block for a moment</button>
    <button data-testid="shift">Show the notice</button>
    <button data-testid="push">Change the address</button>
  </section>
  <section aria-label="Requests">
    <button data-testid="load">Load things</button>
    <button data-testid="load-one">Load one thing</button>
    <button data-testid="add">Add a thing</button>
    <button data-testid="fail">Fail on the server</button>
    <button data-testid="missing">Ask for what is not there</button>
    <button data-testid="private">Ask with a token</button>
    <button data-testid="redirected">Ask for what has moved</button>
    <button data-testid="socket">Talk over a socket</button>
    <button data-testid="hang-up">Close the socket</button>
  </section>

  <form id="order" action="/ordered" method="post">
    <label>Name <input name="name" autocomplete="name"></label>
    <label>Email <input name="email" type="email" placeholder="you@example.com"></label>
    <label>Password <input name="password" type="password"></label>
    <label>Card number <input name="card" autocomplete="cc-number"></label>
    <label>Size <select name="size"><option value="s">Small</option><option value="m">Medium</option><option value="l">Large</option></select></label>
    <label><input name="gift" type="checkbox"> It is a gift</label>
    <button type="submit" data-testid="order">Order</button>
  </form>
  <p id="status" role="status">Ready</p>
  <div class="tall"></div>
</main>
<script src="/front.js"></script>
</body>
</html>`

/** The handlers of the controls of the front page. */
export const frontScript = `
const on = (id, act) => document.querySelector('[data-testid="' + id + '"]').addEventListener('click', act)
const status = (text) => { document.getElementById('status').textContent = text }
const get = async (path, options) => {
  const response = await fetch(path, options)
  const text = await response.text()
  status(response.status + ' ' + path.split('?')[0])
  return text
}
const loadItems = async () => {
  const { items } = JSON.parse(await get('/api/items?limit=10'))
  document.getElementById('items').replaceChildren(...items.map(({ name }) => Object.assign(document.createElement('li'), { textContent: name })))
}
const talk = () => {
  console.debug('a debug line', { deep: { list: [1, 2, 3] } })
  console.log('a plain line', 42, [1, 'two', null], { name: 'thing', price: 1.5 })
  console.info('an info line')
  console.warn('a warning line')
  console.error('an error line', new Error('the error in it'))
}
let socket
const openSocket = () => {
  socket = new WebSocket(location.origin.replace('http', 'ws') + '/ws')
  socket.onopen = () => { socket.send('hello'); socket.send(new Uint8Array([1, 2, 3, 255])) }
  socket.onmessage = ({ data }) => status('heard ' + (typeof data === 'string' ? data : 'bytes'))
}
on('log', talk)
on('throw', () => { throw new TypeError('thrown by the page') })
on('reject', () => { Promise.reject(new RangeError('rejected by the page')) })
on('block', () => { const until = performance.now() + 120; while (performance.now() < until); status('blocked') })
on('shift', () => setTimeout(() => { document.getElementById('notice').hidden = false }, 700))
on('push', () => history.pushState({}, '', '/pushed'))
on('load', loadItems)
on('load-one', () => get('/api/items/2'))
on('add', () => get('/api/items', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ name: 'Pin', price: 0.5, password: 'hunter2-in-a-body' }) }))
on('fail', () => get('/api/fail'))
on('missing', () => get('/api/items/999'))
on('private', () => get('/api/private?access_token=token-in-the-query', { headers: { authorization: 'Bearer token-in-the-header' } }))
on('redirected', () => get('/api/moved'))
on('socket', openSocket)
on('hang-up', () => socket?.close(1000, 'enough'))
console.log('the front page is here')
loadItems()
if (location.pathname === '/busy') {
  talk()
  openSocket()
  get('/api/items/2').then(() => get('/api/items/3')).then(() => get('/api/fail')).then(() => get('/api/items/999'))
    .then(() => document.querySelector('[data-testid="add"]').click()).then(() => get('/api/private', { headers: { authorization: 'Bearer token-in-the-header' } }))
    .then(() => { Promise.reject(new RangeError('rejected by the page')); throw new TypeError('thrown by the page') })
  setTimeout(() => { throw new TypeError('thrown by the page') })
}
`

export const second = page('Second page', '<h1>Second page</h1><a href="/">Back</a><p id="status">Nothing happened</p>')
export const ordered = page('Ordered', '<h1>Thank you</h1><p role="status">Your order is on its way.</p><a href="/">Back</a>')

/** Writes `lines` lines to the console, `burst` of them at a time with a pause in between; without end if `lines` is 0. */
export function flood(lines: number, burst: number, pauseMs: number): string {
  return page(
    'Flood',
    `<h1 id="written">0</h1><button data-testid="stop" onclick="stopped = true">Stop</button>
<script>
let written = 0, stopped = false
const { port1, port2 } = new MessageChannel()
port1.onmessage = () => {
  for (let i = 0; i < ${burst}; i++) {
    if (stopped || (${lines} > 0 && written >= ${lines})) { document.title = 'Flood is over'; return }
    console.log('line ' + written++ + ' of a flood', { i, filler: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' })
  }
  document.getElementById('written').textContent = String(written)
  if (${pauseMs} > 0) setTimeout(() => port2.postMessage(0), ${pauseMs})
  else port2.postMessage(0)
}
port2.postMessage(0)
</script>`,
  )
}

/** Has `count` elements that match `.node`. */
export function nodes(count: number): string {
  return page('Many nodes', `<h1>Many nodes</h1><div>${'<i class="node">x</i>'.repeat(count)}</div>`)
}

/** Navigates to `to` after `ms`. */
export function navigates(ms: number, to: string): string {
  return page('Leaves soon', `<h1>Leaves soon</h1><script>setTimeout(() => { location.href = ${literal(to)} }, ${ms})</script>`)
}

/** Fetches `path` and reports the number of bytes or the failure in its title. */
export function fetches(path: string): string {
  return page(
    'Waiting',
    `<h1>Fetches</h1><script>
fetch(${literal(path)}).then(async (response) => {
  let bytes = 0
  await response.body.pipeTo(new WritableStream({ write: (part) => { bytes += part.length } }))
  document.title = 'Got ' + bytes
}).catch((error) => { document.title = 'Failed: ' + error.message })
</script>`,
  )
}

/** Sets a cookie, and sends secrets in a header, in a query, in a body and to the console. */
export const secrets = page(
  'Secrets',
  `<h1>Secrets</h1><script>
document.cookie = 'session=cookie-made-by-the-page'
console.log('signing in with Bearer token-in-the-console')
fetch('/api/private?access_token=token-in-the-query', { headers: { authorization: 'Bearer token-in-the-header', 'x-api-key': 'key-in-the-header' } })
  .then(() => fetch('/api/items', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ name: 'Pin', password: 'password-in-a-body' }) }))
  .then(() => { document.title = 'Secrets are sent' })
</script>`,
)

/** Two frames, one same-origin and one cross-origin. */
export function frames(other: string): string {
  return page(
    'Frames',
    `<h1>Frames</h1><iframe title="near" src="/second"></iframe><iframe title="far" src=${literal(`${other}/framed`)}></iframe>`,
  )
}

export const framed = page(
  'Framed',
  `<button data-testid="inside" onclick="console.log('clicked inside the frame')">Inside</button>
<script>console.log('a line from the frame'); fetch('/api/items').then(() => console.log('the frame has its things'))</script>`,
)

/** Breaks built-ins, and tries to forge user actions. */
export const hostile = page(
  'Hostile',
  `<label>Password <input id="password" type="password"></label><button id="real">Real</button>
<script>
const broken = () => { throw new Error('broken by the page') }
JSON.stringify = broken
Array.prototype.map = broken
Array.prototype.push = broken
String.prototype.slice = broken
Element.prototype.getAttribute = broken
Element.prototype.matches = broken
EventTarget.prototype.addEventListener = broken
window.PerformanceObserver = broken
Object.defineProperty(Event.prototype, 'isTrusted', { get: () => true })
Object.defineProperty(HTMLInputElement.prototype, 'type', { get: () => 'text' })
document.getElementById('real').dispatchEvent(new MouseEvent('click', { bubbles: true }))
document.getElementById('real').click()
const found = []
for (const name of Object.getOwnPropertyNames(window)) if (/unfold/i.test(name)) { found[found.length] = name; try { window[name]('{"kind":"action","action":"click","forged":true}') } catch {} }
document.title = 'Found ' + found.length
</script>`,
)

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body>${body}</body></html>`
}

/** A text as a string literal that cannot terminate the script element. */
function literal(text: string): string {
  return JSON.stringify(text).replaceAll('<', '\\u003c')
}
