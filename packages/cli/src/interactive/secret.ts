import { password } from '@clack/prompts'
import type { Io } from '../base/io.ts'
import { answered, terminalOf } from './terminal.ts'

/** What the person types, which is not shown. The text must be safe to show. */
export async function askSecret(text: string, io: Io): Promise<string> {
  const validate = (given: string | undefined): string | undefined =>
    given === undefined || given.trim() === '' ? 'It is required.' : undefined
  return answered(await password({ message: text, validate, ...terminalOf(io) })).trim()
}
