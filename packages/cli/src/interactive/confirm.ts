import { confirm } from '@clack/prompts'
import type { Io } from '../base/io.ts'
import { answered, terminalOf } from './terminal.ts'

/** Whether the person agrees. Nothing but a deliberate yes is one. The text must be safe to show. */
export async function confirmed(text: string, io: Io, signal: AbortSignal = io.signal): Promise<boolean> {
  return answered(await confirm({ message: text, initialValue: false, ...terminalOf(io, signal) }))
}
