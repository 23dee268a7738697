import { ToolError } from '@unfold-mcp/server'
import { z } from 'zod'
import { noFilters } from '../recording/filters.ts'
import { listSessions, loadSession, saveSession } from '../recording/session-store.ts'
import { kinds } from '../records/records.ts'
import { dataReply, plainReply, quoted } from '../reply/reply.ts'
import type { Toolbox } from './box.ts'
import type { Watch } from './watch.ts'

const which = z.array(z.enum(kinds)).optional()
const texts = z.array(z.string().min(1).max(500)).max(50).optional()
const sessionName = z.string().describe('A short name: small letters, digits, dots, underscores, hyphens')

/** How the watching is done. Every mode is always there. */
export function addConfigure(toolbox: Toolbox, watch: Watch): void {
  const { recording } = watch
  toolbox.composite(
    'configure',
    {
      title: 'Configure',
      by: 'action',
      about: 'See and change how the browser is watched.',
      readOnly: false,
      modes: {
        health: { about: 'the state of everything: tabs, buffers, what had to go, what was redacted' },
        buffers: {
          about: 'how much each buffer keeps; see or change',
          input: z.object({
            kind: z.enum(kinds).optional().describe('The buffer to change'),
            entries: z.int().min(1).max(100_000).optional().describe('How many records it keeps'),
            bytes: z
              .int()
              .min(10_000)
              .max(512 * 1024 * 1024)
              .optional()
              .describe('How many bytes it keeps'),
          }),
        },
        filters: {
          about: 'what is recorded at all; see or replace',
          input: z.object({
            urls: texts.describe('Only addresses that contain one of these'),
            ignore_urls: texts.describe('No address that contains one of these'),
            levels: z.array(z.enum(['error', 'warning', 'info', 'log', 'debug'])).optional(),
            types: texts.describe('Only requests of these types: document, script, fetch …'),
            reset: z.boolean().optional().describe('Record everything again'),
          }),
        },
        redaction: {
          about: 'what is taken out before anything is kept; see, add or remove patterns',
          input: z.object({
            add: z
              .object({
                name: z
                  .string()
                  .regex(/^[a-z0-9][a-z0-9_-]{0,39}$/u)
                  .describe('Small letters, digits, _ and -'),
                pattern: z.string().min(1).max(200),
              })
              .optional(),
            remove: z.string().optional().describe('The name of a pattern that was added'),
          }),
        },
        clear: {
          about: 'forget what was recorded',
          input: z.object({ which: which.describe('Only these kinds; all unless told') }),
        },
        save: { about: 'keep what is recorded under a name', input: z.object({ name: sessionName }) },
        load: {
          about: 'replace what is recorded by what was kept; without a name, what there is to load',
          input: z.object({ session: sessionName.optional() }),
        },
      },
    },
    {
      health: () => dataReply('How the browser is watched now.', health(watch)),
      buffers: ({ kind, entries, bytes }) => {
        if (kind === undefined && (entries !== undefined || bytes !== undefined))
          throw new ToolError(`Say which buffer to change, as kind: ${kinds.join(', ')}. Nothing was changed.`)
        if (kind !== undefined) {
          const { limits } = recording.of(kind)
          recording.limit({ [kind]: { entries: entries ?? limits.entries, bytes: bytes ?? limits.bytes } })
        }
        return plainReply(
          kind === undefined ? 'What each buffer holds and may hold.' : `The buffer for ${kind} was changed.`,
          buffers(watch),
        )
      },
      filters: ({ urls, ignore_urls, levels, types, reset }) => {
        const { filters } = recording
        const kept = reset === true ? noFilters : filters
        const changes = {
          ...(urls !== undefined && { urls }),
          ...(ignore_urls !== undefined && { ignoreUrls: ignore_urls }),
          ...(levels !== undefined && { levels }),
          ...(types !== undefined && { types }),
        }
        recording.filters = Object.keys(changes).length > 0 ? { ...kept, ...changes } : kept
        const note =
          recording.filters === filters ? 'What is recorded.' : 'From now on this is recorded; what was recorded stays.'
        return plainReply(note, { ...recording.filters, kept_out: recording.filtered })
      },
      redaction: ({ add, remove }) => {
        const { redactor } = recording
        if (remove !== undefined && !redactor.remove(remove))
          throw new ToolError(`No pattern ${quoted(remove, 60)} was added. Added were: ${names(redactor.list())}.`)
        if (add !== undefined) {
          redactor.add(add)
          recording.redactAgain()
        }
        const note =
          add === undefined
            ? 'Patterns that were added to the built-in rules.'
            : 'This is taken out too: from what was recorded already, and from what will be.'
        return plainReply(note, { patterns: redactor.list() })
      },
      clear: ({ which: chosen }) => {
        recording.clear(chosen)
        return plainReply(`Forgotten: ${(chosen ?? kinds).join(', ')}.`)
      },
      save: async ({ name }) => {
        const { path, bytes, leftOut } = await saveSession(recording, watch.baselines, { directory: watch.sessions, name })
        const rest = leftOut === 0 ? '' : ` ${leftOut} records that could not be read again were left out.`
        return plainReply(`Kept as "${name}" in ${path} (${bytes} bytes).${rest}`)
      },
      load: async ({ session }) => {
        if (session === undefined) return plainReply('What can be loaded.', { sessions: await listSessions(watch.sessions) })
        await loadSession(recording, watch.baselines, { directory: watch.sessions, name: session })
        return plainReply(`Loaded "${session}"; what was recorded before is gone.`, buffers(watch))
      },
    },
  )
}

function names(patterns: readonly { readonly name: string }[]): string {
  return patterns.length === 0 ? 'none' : patterns.map(({ name }) => name).join(', ')
}

function buffers({ recording }: Watch) {
  return Object.fromEntries(
    kinds.map((kind) => {
      const { length, bytes, evicted, limits } = recording.of(kind)
      return [kind, { records: length, bytes, evicted, limits }]
    }),
  )
}

function health(watch: Watch) {
  const { recording, browser } = watch
  return {
    tabs: recording.redactor.value(browser.tabs()),
    buffers: buffers(watch),
    pending_requests: recording.pending().length,
    sockets: recording.connections().length,
    endpoints: recording.endpoints.size,
    filtered: recording.filtered,
    redacted: recording.redactor.counts(),
    latest: recording.seq,
    memory_mb: Math.round(process.memoryUsage().rss / 1024 / 1024),
  }
}
