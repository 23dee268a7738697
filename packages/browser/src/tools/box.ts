import { defineToolbox } from '@unfold-mcp/server'
import { version } from '../base/version.ts'
import type { Watch } from './watch.ts'

/** An empty toolbox over a recording. Everything in it waits for the first observation, unless it says otherwise. */
export function createToolbox(
  { recording, firstPage }: Pick<Watch, 'recording' | 'firstPage'>,
  { counts = true }: { readonly counts?: boolean } = {},
) {
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
    protocol: { counts },
    // Whoever asks for a page to be opened and looks at once means that page, and not the empty one before it. It is waited for
    // before modes are checked, so that those which its data brings can be the first thing to ask for.
    ...(firstPage !== undefined && { admit: ({ tool }) => (tool === 'configure' ? undefined : firstPage) }),
  })
}

export type Toolbox = ReturnType<typeof createToolbox>
