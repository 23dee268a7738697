import type { Io } from '../../base/io.ts'
import { switchServer } from '../../gateway/switch.ts'
import type { Invocation } from '../../grammar/grammar.ts'

/** Uses a server again that was disabled. */
export const run = (invocation: Invocation, io: Io): Promise<number> => switchServer('enable', invocation, io)
