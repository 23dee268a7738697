import { log, selectKey } from '@clack/prompts'
import type { Io } from '../base/io.ts'
import { confirmPrompt } from '../interactive/confirm.ts'
import { promptTerminal, requireAnswer } from '../interactive/terminal.ts'
import { plural } from '../text/number.ts'
import { safeText } from '../text/safe.ts'
import type { Decision, ReviewEntry, Screen } from './entry.ts'

export interface Dialog {
  readonly io: Io
  readonly screen: Screen
  /** Returns how many entries were still as shown. */
  readonly decide: (decision: Decision, entries: readonly ReviewEntry[]) => Promise<number>
}

export interface Decided {
  readonly approved: number
  readonly blocked: number
}

const help = `s  skip: decide later
a  approve: clients get it
b  block: clients never get it, under any name
A  approve everything of this server
B  block everything of this server
h  approve everything in which no rule found anything, of all servers
q  quit; decisions that were made stay`

/** Shows one entry after another, and reads one key for each. */
export async function reviewDialog(entries: readonly ReviewEntry[], { io, screen, decide }: Dialog): Promise<Decided> {
  const open = new Set(entries)
  const decided = { approve: 0, block: 0 }
  const apply = async (decision: Decision, chosen: readonly ReviewEntry[]): Promise<void> => {
    const count = await decide(decision, chosen)
    decided[decision] += count
    for (const entry of chosen) open.delete(entry)
    if (count < chosen.length)
      log.warn(`${plural(chosen.length - count, 'definition')} changed meanwhile. Run "unfold review" again.`, promptTerminal(io))
  }
  const applyToAll = async (decision: Decision, server: string): Promise<void> => {
    const chosen = [...open].filter((entry) => entry.server === server)
    const hazards = chosen.filter(({ isHarmless }) => !isHarmless).length
    const warning = decision === 'approve' && hazards > 0 ? ` Rules found something in ${hazards} of them.` : ''
    const question = `${decision === 'approve' ? 'Approve' : 'Block'} ${plural(chosen.length, 'definition')} of ${safeText(server)}?${warning}`
    if (chosen.length === 1 || (await confirmPrompt(question, io))) await apply(decision, chosen)
  }
  for (const [at, entry] of entries.entries()) {
    if (open.has(entry)) io.stderr.write(`\n${entry.text(screen)}\n`)
    // Until this entry is decided: other keys only help, or decide about other entries.
    while (open.has(entry)) {
      const key = await askKey(entry, `${at + 1} of ${entries.length}`, io)
      if (key === 'q') return { approved: decided.approve, blocked: decided.block }
      if (key === 'a') await apply('approve', [entry])
      else if (key === 'b') await apply('block', [entry])
      else if (key === 'A') await applyToAll('approve', entry.server)
      else if (key === 'B') await applyToAll('block', entry.server)
      else if (key === 'h') await apply('approve', harmlessOf(open))
      else if (key === '?') io.stderr.write(`${help}\n`)
      else open.delete(entry)
    }
  }
  return { approved: decided.approve, blocked: decided.block }
}

const harmlessOf = (entries: ReadonlySet<ReviewEntry>): readonly ReviewEntry[] =>
  [...entries].filter(({ isHarmless }) => isHarmless)

async function askKey(entry: ReviewEntry, position: string, io: Io): Promise<string> {
  const options = [
    // First: Enter selects it.
    { value: 's', label: 'skip' },
    { value: 'a', label: 'approve' },
    { value: 'b', label: 'block' },
    { value: 'A', label: `approve all of ${safeText(entry.server)}` },
    { value: 'B', label: `block all of ${safeText(entry.server)}` },
    { value: 'h', label: 'approve everything harmless' },
    { value: '?', label: 'help' },
    { value: 'q', label: 'quit' },
  ]
  const message = `${safeText(entry.id)} (${position})`
  return requireAnswer(await selectKey({ message, options, caseSensitive: true, ...promptTerminal(io) }))
}
