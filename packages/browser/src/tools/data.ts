import type { Snapshot } from '@unfold-mcp/server'
import type { BrowserFacts } from '../recording/recording.ts'

type Of = (snapshot: Snapshot<BrowserFacts>) => number

/** Mode that counts a kind and is available with at least one record. */
const counting = (kind: keyof BrowserFacts): { readonly count: Of } => ({ count: ({ facts }) => facts[kind] })

/** Mode that is available with a record of any of these kinds. */
const some = (...kinds: readonly (keyof BrowserFacts)[]) => ({
  available: ({ facts }: Snapshot<BrowserFacts>): boolean => kinds.some((kind) => facts[kind] > 0),
})

/** Availability and counts of each mode. A mode without an entry is always available. */
export const data = {
  // Always available, because "no errors" is a useful reply.
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

/** Advice for a mode without data. */
export const advice = {
  network: 'No requests yet: open or reload a page in the watched browser.',
  websockets: 'No WebSockets yet: open or reload a page that uses one.',
  actions: 'No actions yet: ask the user to use the page in the watched browser.',
  snapshots: 'No measurements yet: open or reload a page in the watched browser. A load is measured shortly after it ends.',
  endpoints: 'No endpoints yet: use the page in the watched browser so that it calls its API.',
  anything: 'Nothing recorded yet: open a page in the watched browser.',
} as const
