import { ToolError } from '@unfold-mcp/server'
import { z } from 'zod'
import { analyzeApi } from '../analyze/api.ts'
import { changesSince } from '../analyze/changes.ts'
import { analyzePerformance } from '../analyze/performance.ts'
import { buildTimeline } from '../analyze/timeline.ts'
import { defined } from '../base/defined.ts'
import { withTimes } from '../base/times.ts'
import type { Baselines } from '../recording/baselines.ts'
import type { Recording } from '../recording/recording.ts'
import { dataReply } from '../reply/reply.ts'
import { audited } from './audit.ts'
import type { Toolbox } from './base-toolbox.ts'
import { advice, data } from './data.ts'
import type { Watch } from './watch.ts'

const limit = z.int().min(1).max(100).optional().describe('Maximum number')
const url = z.string().max(500).optional().describe('Only URLs that contain this')

/** Adds the `analyze` tool. */
export function addAnalyze(toolbox: Toolbox, watch: Watch): void {
  const { recording, baselines } = watch
  toolbox.composite(
    'analyze',
    {
      title: 'Analyze',
      by: 'target',
      description: 'Analyze the recording, or audit the current page.',
      readOnly: true,
      modes: {
        performance: {
          description: 'page loads compared with their baselines, slow and large requests',
          ...data.performance,
          whenEmpty: advice.snapshots,
          inputSchema: z.object({
            url,
            limit,
            baseline: z
              .enum(['keep', 'set', 'clear'])
              .optional()
              .describe('set: use the newest loads as baselines; clear: remove the baselines'),
          }),
        },
        api: {
          description: 'endpoints that pages call: methods, parameters, shapes of requests and responses',
          ...data.api,
          whenEmpty: advice.endpoints,
          inputSchema: z.object({
            url,
            limit,
            offset: z.int().min(0).optional().describe('Number of endpoints to skip'),
            form: z.enum(['summary', 'openapi']).optional().describe('openapi: an OpenAPI 3.1 document'),
          }),
        },
        accessibility: {
          description: 'a live accessibility audit (axe-core) of the current page',
          ...data.accessibility,
          inputSchema: z.object({
            selector: z.string().max(2_000).optional().describe('Only matches of this CSS selector'),
            tags: z.array(z.string().max(50)).max(20).optional().describe('Only rules with these tags, such as wcag2aa'),
            tab: z.string().optional().describe('The tab, such as tab-1; default: the current one'),
          }),
        },
        changes: {
          description: 'changes since a sequence number: errors, failed requests, endpoints, navigations',
          ...data.changes,
          whenEmpty: advice.anything,
          inputSchema: z.object({ since: z.int().min(0).optional().describe('latest of an earlier reply; default: everything') }),
        },
        timeline: {
          description: 'events around the user actions, in order',
          ...data.timeline,
          whenEmpty: advice.actions,
          inputSchema: z.object({ limit, before: z.int().optional().describe('before of the newer page, for older events') }),
        },
      },
    },
    {
      performance: ({ url: part, limit: max, baseline }) => {
        if (baseline === 'clear') baselines.clear()
        if (baseline === 'set') for (const snapshot of newestLoads(recording)) baselines.set(snapshot)
        const found = analyzePerformance(recording, baselines, defined({ url: part, limit: max }))
        const worse = found.pages.filter(({ metrics }) => metrics.some(({ verdict }) => verdict === 'worse')).length
        return dataReply(`${found.pages.length} pages, ${worse} of them worse than their baseline in some way.`, withTimes(found))
      },
      api: ({ url: part, limit: max, offset, form }) => {
        if (form === 'openapi') return dataReply('OpenAPI document of the observed traffic.', recording.endpoints.openapi())
        const found = analyzeApi(recording.endpoints, defined({ contains: part, limit: max, offset }))
        return dataReply(`${found.endpoints.length} of ${found.total} endpoints.`, withTimes(found))
      },
      accessibility: async ({ selector, tags, tab }, { signal }) => {
        const audit = await audited(watch, { tab, selector, tags, signal })
        const elements = audit.faults.reduce((sum, { count }) => sum + count, 0)
        return dataReply(
          `${audit.faults.length} kinds of faults on ${elements} elements; ${audit.passes} rules passed.`,
          withTimes(audit),
        )
      },
      changes: ({ since = 0 }) => {
        if (since > recording.seq)
          throw new ToolError(
            `No record has number ${since} yet: the latest is ${recording.seq}. It is from an earlier run; omit since.`,
          )
        const found = changesSince(recording, since)
        const total = Object.values(found.counts).reduce((sum, count) => sum + count, 0)
        return dataReply(`${total} new records; pass latest as since to see what comes next.`, withTimes(found))
      },
      timeline: ({ limit: max, before }) => {
        const found = buildTimeline(recording, defined({ limit: max, before }))
        return dataReply(`${found.entries.length} entries, oldest first.`, withTimes(found))
      },
    },
  )
}

function newestLoads(recording: Recording): Iterable<Parameters<Baselines['set']>[0]> {
  return new Map([...recording.of('snapshots')].map((snapshot) => [snapshot.url, snapshot])).values()
}
