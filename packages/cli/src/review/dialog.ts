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
  decide(decision: Decision, entries: readonly ReviewEntry[]): Promise<number>
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
  let isOver = false
  for (const [at, entry] of entries.entries()) {
    if (isOver) break
    if (!open.has(entry)) continue
    io.stderr.write(`\n${entry.text(screen)}\n`)
    const ofServer = [...open].filter(({ server }) => server === entry.server)
    for (let isAnswered = false; !isAnswered; ) {
      isAnswered = true
      const key = await askKey(entry, `${at + 1} of ${entries.length}`, io)
      if (key === 'a') await apply('approve', [entry])
      else if (key === 'b') await apply('block', [entry])
      else if (key === 'A') isAnswered = await applyToAll('approve', ofServer)
      else if (key === 'B') isAnswered = await applyToAll('block', ofServer)
      else if (key === 'h')
        await apply(
          'approve',
          [...open].filter(({ isHarmless }) => isHarmless),
        )
      else if (key === '?') {
        io.stderr.write(`${help}\n`)
        isAnswered = false
      } else if (key === 'q') isOver = true
      // A hazardous entry that is shown still waits for its own decision.
      if (key === 'h' && open.has(entry)) isAnswered = false
    }
  }
  return { approved: decided.approve, blocked: decided.block }

  async function applyToAll(decision: Decision, chosen: readonly ReviewEntry[]): Promise<boolean> {
    const hazards = chosen.filter(({ isHarmless }) => !isHarmless).length
    const warning = decision === 'approve' && hazards > 0 ? ` Rules found something in ${hazards} of them.` : ''
    const question = `${decision === 'approve' ? 'Approve' : 'Block'} ${plural(chosen.length, 'definition')} of ${safeText(chosen[0]?.server ?? '')}?${warning}`
    if (chosen.length > 1 && !(await confirmPrompt(question, io))) return false
    await apply(decision, chosen)
    return true
  }
}

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
