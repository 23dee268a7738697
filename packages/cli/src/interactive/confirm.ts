import { confirm } from '@clack/prompts'
import type { Io } from '../base/io.ts'
import { promptTerminal, requireAnswer } from './terminal.ts'

/** Whether the person agrees. Nothing but a deliberate yes is one. The text must be safe to show. */
export async function confirmPrompt(text: string, io: Io, signal: AbortSignal = io.signal): Promise<boolean> {
  return requireAnswer(await confirm({ message: text, initialValue: false, ...promptTerminal(io, signal) }))
}
