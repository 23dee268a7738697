import { switchServer } from '../gateway/switch.ts'
import type { Invocation } from '../grammar.ts'
import type { Io } from '../io.ts'

/** Uses a server again that was disabled. */
export const run = (invocation: Invocation, io: Io): Promise<number> => switchServer('enable', invocation, io)
