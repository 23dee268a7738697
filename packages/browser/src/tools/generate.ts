import type { CallToolResult } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { analyzePerformance } from '../analyze/performance.ts'
import { version } from '../base/version.ts'
import { har } from '../generate/har/har.ts'
import { prSummary } from '../generate/pr-summary.ts'
import { sarif } from '../generate/sarif/sarif.ts'
import { playwrightTest } from '../generate/script/playwright-test.ts'
import { reproduction } from '../generate/script/reproduction.ts'
import { writeOutput } from '../reply/output.ts'
import { documentReply, escapeInvisible, plainReply } from '../reply/reply.ts'
import { audited } from './audit.ts'
import type { Toolbox } from './base-toolbox.ts'
import { advice, data } from './data.ts'
import type { Watch } from './watch.ts'

const title = z.string().max(200).optional().describe('Title')
const script = z.object({
  title,
  base_url: z.url().optional().describe('Base URL of the site, if it differs from the recorded one'),
  last: z.int().min(1).max(1_000).optional().describe('Only this many of the newest actions'),
})
const place = { tab: z.string().optional().describe('The tab, such as tab-1; default: the current one') }

/** Adds the `generate` tool. */
export function addGenerate(toolbox: Toolbox, watch: Watch): void {
  const { recording } = watch
  const actions = (last: number | undefined) => [...recording.of('actions')].slice(-(last ?? 1_000))
  toolbox.composite(
    'generate',
    {
      title: 'Generate',
      by: 'format',
      description: 'Generate a document from the recording.',
      readOnly: false,
      destructive: false,
      inputSchema: z.object({
        file: z.string().max(100).optional().describe('Write the document to this file instead of the reply'),
      }),
      modes: {
        reproduction: {
          description: 'a Playwright script that repeats the user actions',
          ...data.reproduction,
          whenEmpty: advice.actions,
          inputSchema: script,
        },
        test: {
          description: 'a Playwright test that repeats the user actions and expects the same results',
          ...data.test,
          whenEmpty: advice.actions,
          inputSchema: script,
        },
        pr_summary: {
          description: 'Markdown for a pull request: actions, errors, failed requests, performance, accessibility',
          ...data.pr_summary,
          whenEmpty: advice.anything,
          inputSchema: z.object({ title }),
        },
        sarif: { description: 'SARIF 2.1.0 of a live accessibility audit', ...data.sarif, inputSchema: z.object(place) },
        har: { description: 'HTTP Archive 1.2 of the requests with bodies', ...data.har, whenEmpty: advice.network },
      },
    },
    {
      reproduction: ({ file, title: named, base_url, last }) =>
        delivered(watch, { file, suffix: '.mjs', what: 'A Playwright script; run it with node' }, (limit) =>
          reproduction(actions(last), { ...scriptOptions(named, base_url), limit }),
        ),
      test: ({ file, title: named, base_url, last }) =>
        delivered(watch, { file, suffix: '.spec.ts', what: 'A test for @playwright/test' }, (limit) =>
          playwrightTest({
            actions: actions(last),
            logs: [...recording.of('logs')],
            network: [...recording.of('network')],
            ...scriptOptions(named, base_url),
            limit,
          }),
        ),
      pr_summary: ({ file, title: named }) =>
        delivered(watch, { file, suffix: '.md', what: 'A summary for a pull request' }, () =>
          prSummary({
            ...(named !== undefined && { title: named }),
            actions: [...recording.of('actions')],
            logs: [...recording.of('logs')],
            network: [...recording.of('network')],
            performance: analyzePerformance(watch.recording, watch.baselines).pages.map(({ url, metrics }) => ({ url, metrics })),
            audits: [...recording.of('audits')],
          }),
        ),
      sarif: async ({ file, tab }, { signal }) => {
        const audit = await audited(watch, { tab, signal })
        return delivered(watch, { file, suffix: '.sarif', what: 'A SARIF log of the audit' }, (limit) =>
          escapeInvisible(JSON.stringify(sarif(audit, { version, limit }), undefined, 1)),
        )
      },
      har: ({ file }) =>
        delivered(watch, { file, suffix: '.har', what: 'An HTTP archive' }, (limit) =>
          escapeInvisible(
            JSON.stringify(har([...recording.of('network')], { version, snapshots: [...recording.of('snapshots')], limit })),
          ),
        ),
    },
  )
}

const scriptOptions = (named: string | undefined, baseUrl: string | undefined) => ({
  ...(named !== undefined && { title: named }),
  ...(baseUrl !== undefined && { baseUrl }),
})

interface Delivery {
  readonly file: string | undefined
  readonly suffix: string
  readonly what: string
}

// A document in a reply is read by a model; one in a file may be longer.
const inAnswer = 60_000
const inFile = 64 * 1024 * 1024

/** Returns the document in the reply, or writes it to a file. */
async function delivered(
  { output }: Watch,
  { file, suffix, what }: Delivery,
  make: (limit: number) => string,
): Promise<CallToolResult> {
  if (file === undefined) return documentReply(`${what}.`, make(inAnswer))
  const written = await writeOutput(output, file.endsWith(suffix) ? file : `${file}${suffix}`, make(inFile))
  return plainReply(`${what}, written to ${written.path} (${written.bytes} bytes).`)
}
