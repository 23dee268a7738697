import { confirm } from '@clack/prompts'
import type { Io } from '../base/io.ts'
import { promptTerminal, requireAnswer } from './terminal.ts'

/** Yes/no prompt, defaulting to no. The text must be safe for a terminal. */
export async function confirmPrompt(text: string, io: Io, signal: AbortSignal = io.signal): Promise<boolean> {
  return requireAnswer(await confirm({ message: text, initialValue: false, ...promptTerminal(io, signal) }))
}
