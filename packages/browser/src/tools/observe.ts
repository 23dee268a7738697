import type { CallToolResult } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { defined } from '../base/defined.ts'
import { withTimes } from '../base/times.ts'
import { describePage } from '../dom/dom.ts'
import { type PageQuery, page } from '../observing/observing.ts'
import type { Kind } from '../records/records.ts'
import { dataReply, replyLimit, visibleJson } from '../reply/reply.ts'
import type { Toolbox } from './base-toolbox.ts'
import { advice, data } from './data.ts'
import { onTab, withoutSecrets } from './live.ts'
import type { Watch } from './watch.ts'

const contains = z.string().max(500).optional().describe('Only records that contain this text')

/** Adds the `observe` tool. */
export function addObserve(toolbox: Toolbox, watch: Watch): void {
  const { recording } = watch
  toolbox.composite(
    'observe',
    {
      title: 'Observe',
      by: 'what',
      description: 'Show what happened in the watched browser, newest first. More modes and tools appear as data arrives.',
      readOnly: true,
      after: false,
      inputSchema: z.object({
        limit: z.int().min(1).max(200).optional().describe('Maximum number; default: 20'),
        cursor: z.string().optional().describe('next_cursor of the previous page, for older records'),
        since: z
          .string()
          .optional()
          .describe('Only records after: latest of an earlier reply, a time (ISO 8601), or an age such as 30s, 5m, 2h'),
        tab: z.string().optional().describe('Only this tab, such as tab-1'),
      }),
      modes: {
        errors: { description: 'console errors and uncaught exceptions', ...data.errors, inputSchema: z.object({ contains }) },
        logs: {
          description: 'console messages, exceptions and browser messages',
          ...data.logs,
          inputSchema: z.object({ contains, level: z.enum(['error', 'warning', 'info', 'log', 'debug']).optional() }),
        },
        network: {
          description: 'completed and pending requests',
          ...data.network,
          whenEmpty: advice.network,
          inputSchema: z.object({
            url: z.string().max(500).optional().describe('Only URLs that contain this'),
            method: z.string().max(20).optional(),
            status: z.string().optional().describe('404, 4xx, failed (no response), or error (failed or 400 and above)'),
            type: z.string().optional().describe('document, script, fetch, xhr, image …'),
            seq: z.int().optional().describe('Only the record with this number, in full'),
            bodies: z.enum(['none', 'cut', 'full']).optional().describe('How much of the bodies to show; default: none'),
            headers: z.boolean().optional(),
          }),
        },
        websocket_events: {
          description: 'messages sent and received on WebSockets',
          ...data.websocket_events,
          whenEmpty: advice.websockets,
          inputSchema: z.object({
            contains,
            socket: z.string().optional().describe('Only this connection'),
            direction: z.enum(['sent', 'received']).optional(),
          }),
        },
        websocket_status: { description: 'state of the WebSockets', ...data.websocket_status, whenEmpty: advice.websockets },
        actions: {
          description: 'user actions: clicks, input, navigation, scrolling, each with selectors of the element',
          ...data.actions,
          whenEmpty: advice.actions,
          inputSchema: z.object({
            action: z.enum(['click', 'input', 'select', 'check', 'key', 'submit', 'scroll', 'navigation']).optional(),
          }),
        },
        vitals: {
          description: 'performance of pages: LCP, CLS, INP, FCP, TTFB, long tasks',
          ...data.vitals,
          whenEmpty: advice.snapshots,
        },
        page: { description: 'the current page: outline, forms, visible text', ...data.page },
      },
    },
    {
      errors: ({ contains: text, ...asked }) =>
        pageReply(watch, 'logs', 'errors', asked, { level: 'error', ...defined({ contains: text, tab: asked.tab }) }),
      logs: ({ contains: text, level, ...asked }) =>
        pageReply(watch, 'logs', 'log entries', asked, defined({ contains: text, level, tab: asked.tab })),
      network: ({ url, method, status, type, seq, bodies, headers, ...asked }) => {
        const pending = recording.pending().slice(0, 20)
        const match = defined({ url, method, status, type, seq, bodies, headers, tab: asked.tab })
        return pageReply(watch, 'network', 'requests', asked, match, pending.length > 0 ? { pending: withTimes(pending) } : {})
      },
      websocket_events: ({ contains: text, socket, direction, ...asked }) =>
        pageReply(watch, 'sockets', 'WebSocket events', asked, defined({ contains: text, socket, direction, tab: asked.tab })),
      websocket_status: ({ tab }) => {
        const connections = recording.connections().filter((each) => tab === undefined || each.tab === tab)
        return dataReply(`${connections.length} ${connections.length === 1 ? 'WebSocket' : 'WebSockets'}.`, {
          connections: withTimes(connections),
        })
      },
      actions: ({ action, ...asked }) => pageReply(watch, 'actions', 'actions', asked, defined({ action, tab: asked.tab })),
      vitals: async (asked) => {
        // Measures the page now; without a page, the recorded measurements are returned.
        await watch.browser.snapshot(asked.tab).catch(() => undefined)
        return pageReply(watch, 'snapshots', 'measurements', asked, defined({ tab: asked.tab }))
      },
      page: async ({ tab }, { signal }) => {
        const tabs = watch.browser.tabs()
        const described = await onTab(watch, { tab, signal }, async (current, id, untilUnavailable) => ({
          tab: id,
          ...(await describePage(current, { signal: untilUnavailable })),
        }))
        const seen = withoutSecrets(recording.redactor, tabs.length > 1 ? { ...described, tabs } : described)
        return dataReply('The current page.', seen)
      },
    },
  )
}

const roomForWords = 2_000

interface Asked {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
  readonly since?: string | undefined
}

function pageReply<K extends Kind>(
  { recording }: Watch,
  kind: K,
  what: string,
  { limit, cursor, since }: Asked,
  match: PageQuery<K>['match'],
  rest: object = {},
): CallToolResult {
  const place = since !== undefined && /^\d{1,15}$/u.test(since) ? Number(since) : since
  // The extra data reduces the room for records.
  const room = replyLimit - roomForWords - visibleJson(rest).length
  const query = { ...defined({ limit, cursor, since: place }), match, room } as PageQuery<K>
  const found = page(recording, kind, query)
  const { length } = found.records
  const older = found.next_cursor === undefined ? '' : ' There are older ones: pass next_cursor as cursor.'
  const missed = found.missed === undefined ? '' : ` ${found.missed} had to go before they were seen.`
  return dataReply(`${amount(length, what, isNarrowed(what, { cursor, since }, match))}.${older}${missed}`, { ...found, ...rest })
}

/** Formats the number of records; distinguishes "none" from "none match". */
function amount(length: number, what: string, isPart: boolean): string {
  if (length === 0) return `No ${what} ${isPart ? 'match' : 'so far'}`
  if (length === 1) return `1 ${what.replace(/ies$/, 'y').replace(/s$/, '')}`
  return `${length} ${what}, newest first`
}

/** True if a filter applies. Errors are always filtered by level. */
function isNarrowed(what: string, { cursor, since }: Asked, match: object = {}): boolean {
  return cursor !== undefined || since !== undefined || Object.keys(match).length > (what === 'errors' ? 1 : 0)
}
