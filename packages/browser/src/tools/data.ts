import type { Snapshot } from '@unfold-mcp/server'
import type { BrowserFacts } from '../recording/recording.ts'

type Of = (snapshot: Snapshot<BrowserFacts>) => number

/** A mode that counts a kind, and has data as soon as there is one of it. */
const counting = (kind: keyof BrowserFacts): { readonly count: Of } => ({ count: ({ facts }) => facts[kind] })

/** A mode that has data as soon as one of these kinds has some. */
const some = (...kinds: readonly (keyof BrowserFacts)[]) => ({
  available: ({ facts }: Snapshot<BrowserFacts>): boolean => kinds.some((kind) => facts[kind] > 0),
})

/** What each mode needs and counts: the rules of availability in one place. A mode without either is always there. */
export const data = {
  // Errors and messages may come at any time, and none is an answer too.
  errors: { ...counting('errors'), available: true },
  logs: { ...counting('logs'), available: true },
  network: counting('network'),
  websocket_events: counting('sockets'),
  websocket_status: counting('connections'),
  actions: counting('actions'),
  vitals: counting('snapshots'),
  page: {},
  performance: counting('snapshots'),
  api: counting('endpoints'),
  accessibility: {},
  changes: some('logs', 'network', 'sockets', 'connections', 'actions', 'snapshots'),
  timeline: counting('actions'),
  reproduction: counting('actions'),
  test: counting('actions'),
  pr_summary: some('logs', 'actions', 'network', 'snapshots'),
  sarif: {},
  har: counting('network'),
} as const

/** What to do for data of a kind, where there is none yet. */
export const advice = {
  network: 'Requests are recorded as pages make them: open or reload a page in the watched browser.',
  websockets: 'WebSockets are recorded as pages open them: open or reload a page that uses one.',
  actions: 'Actions are recorded as a person uses the page: ask them to click through it in the watched browser.',
  snapshots: 'A page load is measured a moment after it ends: open or reload a page in the watched browser.',
  endpoints: 'Endpoints are learnt from what pages fetch: use the page in the watched browser so that it calls its API.',
  anything: 'Nothing was recorded yet: open a page in the watched browser.',
} as const
