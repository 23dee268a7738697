/**
 * Shows tools that follow the data, with a queue of jobs. `jobs` lists only the states that have jobs, with their counts, and is
 * hidden without jobs. `report` appears after the first call of `jobs`, and `clear` while there are finished jobs. A job that
 * finishes changes the list, and clients are notified at most once a second.
 *
 *   npm run -s example -- state-aware                  over standard input and output
 *   npm run -s example -- state-aware --http 8000      at http://127.0.0.1:8000/mcp
 */
import { defineToolbox } from '@unfold-mcp/server'
import { z } from 'zod'
import type { Job, JobQueue, State } from './queue.ts'
import { works } from './work.ts'

const kinds = Object.keys(works) as (keyof typeof works)[]

type Now = { readonly facts: { readonly [S in State]: number } }

/** A job state with its count; listed while it has jobs. */
const jobsThatAre = (state: State, description: string, whenEmpty: string) => ({
  description,
  whenEmpty,
  count: ({ facts }: Now) => facts[state],
})

const hasDone = ({ facts }: Now) => facts.done > 0

export function jobServer(queue: JobQueue, { now = () => performance.now() }: { readonly now?: () => number } = {}) {
  const shown = (state: State, limit: number) => ({ jobs: queue.jobs(state).slice(0, limit) })
  return defineToolbox({
    name: 'state-aware',
    version: '1.0.0',
    description: 'Computes things in the background. Submit jobs, then look at them.',
    facts: queue.facts,
    now,
  })
    .tool(
      'submit',
      {
        description: 'Submit a job. It runs when those before it have ended.',
        after: false,
        destructive: false,
        inputSchema: z.object({
          kind: z.enum(kinds).describe('What to compute'),
          size: z.int().min(2).max(10_000_000).describe('Of all numbers below this one'),
        }),
      },
      ({ kind, size }) => `Job ${queue.submit(kind, size).id} waits.`,
    )
    .composite(
      'jobs',
      {
        by: 'which',
        description: 'Look at jobs, newest first.',
        after: false,
        readOnly: true,
        inputSchema: z.object({ limit: z.int().min(1).max(100).default(20) }),
        modes: {
          waiting: jobsThatAre('waiting', 'Not begun yet', 'Submit some, and look while they wait.'),
          running: jobsThatAre('running', 'The one that is computed now', 'Submit one, and look while it runs.'),
          done: jobsThatAre('done', 'Ended, with results', 'Submit one, and look when it has ended.'),
          failed: jobsThatAre('failed', 'Given up, with the reason', 'None has failed.'),
        },
      },
      {
        waiting: ({ which, limit }) => shown(which, limit),
        running: ({ which, limit }) => shown(which, limit),
        done: ({ which, limit }) => shown(which, limit),
        failed: ({ which, limit }) => shown(which, limit),
      },
    )
    .composite(
      'report',
      {
        by: 'form',
        description: 'Report on jobs that are done.',
        after: 'jobs',
        readOnly: true,
        modes: {
          table: {
            description: 'A table in Markdown',
            available: hasDone,
            inputSchema: z.object({ kind: z.enum(kinds).optional() }),
          },
          totals: { description: 'How many jobs and steps of each kind', available: hasDone },
        },
      },
      {
        table: ({ kind }) => tableOf(queue.jobs('done').filter((job) => kind === undefined || job.kind === kind)),
        totals: () => ({ totals: totalsOf(queue.jobs('done')) }),
      },
    )
    .tool(
      'clear',
      {
        description: 'Forget all jobs that ended.',
        after: false,
        destructive: true,
        when: ({ facts }) => facts.done + facts.failed > 0,
      },
      () => `Forgot ${queue.clear()} jobs.`,
    )
}

function tableOf(jobs: readonly Job[]): string {
  const rows = jobs.map(({ id, kind, size, outcome = '' }) => `| ${id} | ${kind} | ${size} | ${outcome} |`)
  return ['| Job | Kind | Size | Result |', '| --- | --- | --- | --- |', ...rows].join('\n')
}

function totalsOf(jobs: readonly Job[]) {
  return kinds.flatMap((kind) => {
    const own = jobs.filter((job) => job.kind === kind)
    return own.length === 0 ? [] : [{ kind, jobs: own.length, steps: own.reduce((sum, { steps }) => sum + steps, 0) }]
  })
}
