import type { ConfigEdit } from '@unfold-mcp/gateway'
import { adminRequest } from '../gateway/running.ts'
import { safeText } from '../text/safe.ts'
import { differenceLines } from './difference-text.ts'
import { type ReviewEntry, type ReviewSource, requestOf, type Screen } from './entry.ts'

/** Edits of the configuration file that would start something, or weaken the gateway. */
export const configurationEdits: ReviewSource = {
  name: 'edits',
  async load(access) {
    const response = await adminRequest(access.gateway, 'edits', requestOf(access))
    return ((await response.json()) as readonly ConfigEdit[]).map(entryOf)
  },
  async decide(access, decision, entries) {
    const digests = entries.map(({ digest }) => digest)
    const body = decision === 'approve' ? { approve: digests } : { reject: digests }
    const response = await adminRequest(access.gateway, 'edits', { ...requestOf(access), method: 'POST', body })
    return ((await response.json()) as { readonly decided: number }).decided
  },
}

// Not the server's name: approving the tools of a server must not approve a new command for it.
const source = 'unfold.json'

function entryOf(edit: ConfigEdit): ReviewEntry {
  return {
    server: source,
    id: edit.path,
    digest: edit.digest,
    state: edit.isRejected ? 'blocked' : 'held',
    isHarmless: false,
    text: (screen) => editText(edit, screen),
    data: edit,
  }
}

/** An edit with everything that it changes; safe for a terminal. */
export function editText({ path, server, isNew, isRejected, changes }: ConfigEdit, { style }: Pick<Screen, 'style'>): string {
  const what = server === undefined ? path : isNew ? `new server ${server}` : `changed server ${server}`
  const state = isRejected ? style.red('rejected') : style.yellow('waiting for approval')
  return [
    `${style.bold(safeText(`${source}: ${what}`))} (${state})`,
    ...changes.flatMap((change) =>
      change.before !== undefined && change.before === change.after
        ? [`  ${style.bold(safeText(change.path))}`, '    changed; the value is masked']
        : differenceLines(change, style),
    ),
  ].join('\n')
}
