import { ToolError } from '@unfold-mcp/server'
import { z } from 'zod'
import { noFilters } from '../recording/filters.ts'
import { listSessions, loadSession, saveSession } from '../recording/session-store.ts'
import { kinds } from '../records/records.ts'
import { dataReply, plainReply, quoted } from '../reply/reply.ts'
import type { Toolbox } from './base-toolbox.ts'
import type { Watch } from './watch.ts'

const which = z.array(z.enum(kinds)).optional()
const texts = z.array(z.string().min(1).max(500)).max(50).optional()
const sessionName = z.string().describe('Lower-case letters, digits, dots, underscores, hyphens')

/** Adds the `configure` tool; all modes are always available. */
export function addConfigure(toolbox: Toolbox, watch: Watch): void {
  const { recording } = watch
  toolbox.composite(
    'configure',
    {
      title: 'Configure',
      by: 'action',
      description: 'Show or change how the browser is watched.',
      readOnly: false,
      modes: {
        health: { description: 'state of tabs, buffers, dropped records and redactions' },
        buffers: {
          description: 'buffer limits; show or change',
          inputSchema: z.object({
            kind: z.enum(kinds).optional().describe('The buffer to change'),
            entries: z.int().min(1).max(100_000).optional().describe('Maximum number of records'),
            bytes: z
              .int()
              .min(10_000)
              .max(512 * 1024 * 1024)
              .optional()
              .describe('Maximum bytes'),
          }),
        },
        filters: {
          description: 'recording filters; show or replace',
          inputSchema: z.object({
            urls: texts.describe('Only URLs that contain one of these'),
            ignore_urls: texts.describe('No URLs that contain one of these'),
            levels: z.array(z.enum(['error', 'warning', 'info', 'log', 'debug'])).optional(),
            types: texts.describe('Only requests of these types: document, script, fetch …'),
            reset: z.boolean().optional().describe('Record everything again'),
          }),
        },
        redaction: {
          description: 'redaction patterns; show, add or remove',
          inputSchema: z.object({
            add: z
              .object({
                name: z
                  .string()
                  .regex(/^[a-z0-9][a-z0-9_-]{0,39}$/u)
                  .describe('Lower-case letters, digits, _ and -'),
                pattern: z.string().min(1).max(200),
              })
              .optional(),
            remove: z.string().optional().describe('Name of an added pattern'),
          }),
        },
        clear: {
          description: 'clear the recording',
          inputSchema: z.object({ which: which.describe('Only these kinds; default: all') }),
        },
        save: { description: 'save the recording under a name', inputSchema: z.object({ name: sessionName }) },
        load: {
          description: 'replace the recording with a saved one; without a name, list saved ones',
          inputSchema: z.object({ session: sessionName.optional() }),
        },
      },
    },
    {
      health: () => dataReply('Current state.', health(watch)),
      buffers: ({ kind, entries, bytes }) => {
        if (kind === undefined && (entries !== undefined || bytes !== undefined))
          throw new ToolError(`Missing kind. Use one of: ${kinds.join(', ')}. Nothing was changed.`)
        if (kind !== undefined) {
          const { limits } = recording.of(kind)
          recording.limit({ [kind]: { entries: entries ?? limits.entries, bytes: bytes ?? limits.bytes } })
        }
        return plainReply(
          kind === undefined ? 'Buffers and their limits.' : `The buffer for ${kind} was changed.`,
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
        const note = recording.filters === filters ? 'Recording filters.' : 'Recording filters changed; existing records stay.'
        return plainReply(note, { ...recording.filters, kept_out: recording.filtered })
      },
      redaction: ({ add, remove }) => {
        const { redactor } = recording
        if (remove !== undefined && !redactor.remove(remove))
          throw new ToolError(`Unknown pattern ${quoted(remove, 60)}. Added patterns: ${names(redactor.list())}.`)
        if (add !== undefined) {
          redactor.add(add)
          recording.redactAgain()
        }
        const note =
          add === undefined
            ? 'Patterns in addition to the built-in rules.'
            : 'Pattern added; applied to existing and new records.'
        return plainReply(note, { patterns: redactor.list() })
      },
      clear: ({ which: chosen }) => {
        recording.clear(chosen)
        return plainReply(`Cleared: ${(chosen ?? kinds).join(', ')}.`)
      },
      save: async ({ name }) => {
        const { path, bytes, leftOut } = await saveSession(recording, watch.baselines, { directory: watch.sessions, name })
        const rest = leftOut === 0 ? '' : ` ${leftOut} invalid records were omitted.`
        return plainReply(`Saved as "${name}" in ${path} (${bytes} bytes).${rest}`)
      },
      load: async ({ session }) => {
        if (session === undefined) return plainReply('Saved sessions.', { sessions: await listSessions(watch.sessions) })
        await loadSession(recording, watch.baselines, { directory: watch.sessions, name: session })
        return plainReply(`Loaded "${session}"; it replaced the recording.`, buffers(watch))
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
