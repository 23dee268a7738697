import type { Io } from '../../base/io.ts'
import { toggleServer } from '../../gateway/toggle.ts'
import type { Invocation } from '../../grammar/grammar.ts'

export const run = (invocation: Invocation, io: Io): Promise<number> => toggleServer('enable', invocation, io)
