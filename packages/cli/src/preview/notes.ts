import { type HostProfile, surfaceNames } from '@unfold-mcp/core'
import type { Transcript } from './transcript.ts'

interface NoteOptions {
  readonly host: HostProfile | undefined
  /** Whether the host loads the tools of this server without deferring them. */
  readonly isLoaded: boolean
  readonly unsupported: readonly Transcript['era'][]
}

/** Limitations of the preview. */
export function notesOf(all: readonly Transcript[], { host, isLoaded, unsupported }: NoteOptions): readonly string[] {
  const skipped = [...new Set(all.flatMap((transcript) => transcript.skipped))]
  const isDeferring = all.some(({ tools }) => tools.some(({ _meta }) => _meta?.['anthropic/searchHint'] !== undefined))
  return [
    ...(unsupported.length > 0
      ? [`This server does not support MCP 2026-07-28. ${host?.title ?? 'Every client'} uses a session.`]
      : []),
    ...(skipped.length > 0 ? [`Not called (need arguments or may have side effects): ${skipped.join(', ')}.`] : []),
    ...absences(all),
    ...(host?.defers === 'always' && !isLoaded
      ? [
          `${host.title} defers tools behind its own tool search. "unfold connect" disables this for a short list; preview it with a URL with ?exposure=auto.`,
        ]
      : []),
    ...(host?.defers === 'by-setting' && !isDeferring
      ? [`${host.title} defers tools in some versions and settings; this preview assumes it does not.`]
      : []),
  ]
}

/** Tools of one era that are missing in the other. */
function absences(all: readonly Transcript[]): readonly string[] {
  const [session, stateless] = [all.find(({ era }) => era === 'session'), all.find(({ era }) => era === 'stateless')]
  if (session === undefined || stateless === undefined) return []
  const known = namesIn(session)
  // Missing tools of a group are reported as warnings.
  const grouped = new Set(stateless.outline?.tools.filter(({ group }) => group !== undefined).map(({ name }) => name))
  const missing = stateless.tools
    .map(({ name }) => name)
    .filter((name) => !known.has(name) && !grouped.has(name) && !surfaceNames.has(name))
  if (missing.length === 0 || session.skipped.length > 0) return []
  return [`Not seen in a session: ${missing.join(', ')}. Some tools are listed only after another tool succeeded.`]
}

const namesIn = ({ tools, steps, outline }: Transcript): ReadonlySet<string> =>
  new Set([...tools, ...steps.flatMap(({ appeared }) => appeared), ...(outline?.tools ?? [])].map(({ name }) => name))
