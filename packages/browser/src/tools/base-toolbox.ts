import { defineToolbox } from '@unfold-mcp/server'
import { version } from '../base/version.ts'
import type { Watch } from './watch.ts'

/** Creates the toolbox of a recording. Its tools have `observe` as prerequisite by default. */
export function createToolbox(
  { recording, firstPage }: Pick<Watch, 'recording' | 'firstPage'>,
  { counts = true }: { readonly counts?: boolean } = {},
) {
  return defineToolbox({
    name: 'unfold-browser',
    title: 'Browser watcher',
    version,
    description:
      'Watches a real browser: what its pages log, request, send and receive, how they perform, and what the user does.',
    facts: recording.facts,
    after: 'observe',
    // A model that knows the tools from elsewhere gets advice instead of "unknown tool".
    hiddenCalls: 'hint',
    protocol: { counts },
    // A call right after opening a page means that page, not the empty one before. Awaited before modes are checked, so that modes
    // enabled by its data are available at once.
    ...(firstPage !== undefined && { admit: ({ tool }) => (tool === 'configure' ? undefined : firstPage) }),
  })
}

export type Toolbox = ReturnType<typeof createToolbox>
