import type { Snapshot } from '@unfold-mcp/server'
import type { BrowserFacts } from '../recording.ts'

type Of = (snapshot: Snapshot<BrowserFacts>) => number

/** How much there is of a kind, as it is counted already. */
const of =
  (kind: keyof BrowserFacts): Of =>
  ({ facts }) =>
    facts[kind]

/** A mode that is there as soon as one of these has something. */
const some =
  (...kinds: readonly (keyof BrowserFacts)[]) =>
  ({ facts }: Snapshot<BrowserFacts>): boolean =>
    kinds.some((kind) => facts[kind] > 0)

/** What each mode needs and counts: the rules of availability in one place. A mode without `available` is always there. */
export const data = {
  errors: { count: of('errors') },
  logs: { count: of('logs') },
  network: { available: some('network'), count: of('network') },
  websocket_events: { available: some('sockets'), count: of('sockets') },
  websocket_status: { available: some('connections'), count: of('connections') },
  actions: { available: some('actions'), count: of('actions') },
  vitals: { available: some('snapshots'), count: of('snapshots') },
  page: {},
  performance: { available: some('snapshots'), count: of('snapshots') },
  api: { available: some('endpoints'), count: of('endpoints') },
  accessibility: {},
  changes: { available: some('logs', 'network', 'sockets', 'connections', 'actions', 'snapshots') },
  timeline: { available: some('actions'), count: of('actions') },
  reproduction: { available: some('actions'), count: of('actions') },
  test: { available: some('actions'), count: of('actions') },
  pr_summary: { available: some('logs', 'actions', 'network', 'snapshots') },
  sarif: {},
  har: { available: some('network'), count: of('network') },
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
