import type { ReviewItem } from '@unfold-mcp/gateway'
import { adminRequest } from '../gateway/running.ts'
import { safeText } from '../text/safe.ts'
import { differenceLines } from './difference-text.ts'
import { type ReviewEntry, type ReviewSource, requestOf, type Screen } from './entry.ts'
import { findingLines } from './finding-text.ts'

/** Tools, prompts, resource templates and instructions of servers. */
export const definitions: ReviewSource = {
  name: 'definitions',
  async load(access) {
    const response = await adminRequest(access.gateway, 'review', requestOf(access))
    return ((await response.json()) as readonly ReviewItem[]).map(entryOf)
  },
  async decide(access, decision, entries) {
    const body = { server: entries[0]?.server, decision, digests: entries.map(({ digest }) => digest) }
    const response = await adminRequest(access.gateway, 'review', { ...requestOf(access), method: 'POST', body })
    return ((await response.json()) as { readonly decided: number }).decided
  },
}

function entryOf(item: ReviewItem): ReviewEntry {
  const { server, kind, name, digest, state, hazards } = item
  return {
    server,
    id: kind === 'tool' ? `${server}/${name}` : `${server}/${kind}${name === '' ? '' : `:${name}`}`,
    digest,
    state,
    isHarmless: hazards.length === 0,
    text: (screen) => itemText(item, screen),
    data: item,
  }
}

function itemText({ server, kind, name, state, isNew, differences, hazards }: ReviewItem, screen: Screen): string {
  const { style } = screen
  const what = `${kind}${name === '' ? '' : ` ${name}`}`
  const news = state === 'blocked' ? '' : isNew ? 'new, ' : 'changed, '
  const states = { held: style.yellow('held'), changed: 'served', blocked: style.red('blocked') }
  return [
    `${style.bold(safeText(`${server}: ${what}`))} (${news}${states[state]})`,
    ...findingLines(hazards, screen),
    // The name of a new tool is in the first line.
    ...differences.filter(({ path }) => !isNew || path !== 'name').flatMap((difference) => differenceLines(difference, style)),
  ].join('\n')
}
