import { defineToolbox } from '@unfold-mcp/server'
import { version } from '../version.ts'
import type { Watch } from '../watch.ts'

/** An empty toolbox over a recording. Everything in it waits for the first observation, unless it says otherwise. */
export function emptyBox({ recording }: Pick<Watch, 'recording'>, { counts = true }: { readonly counts?: boolean } = {}) {
  return defineToolbox({
    name: 'unfold-browser',
    title: 'Browser watcher',
    version,
    about:
      'Watches a real browser: what its pages log, request, send and receive, how they perform, and what the person in front of them does.',
    facts: recording.facts,
    after: 'observe',
    // A model that knows the tools by another way is told what to do first instead of that they do not exist.
    hiddenCalls: 'hint',
    counts,
  })
}

export type Box = ReturnType<typeof emptyBox>
