import type { Attack } from './attack.ts'
import { edge } from './corpus/edge.ts'
import { framing } from './corpus/framing.ts'
import { size } from './corpus/size.ts'
import { tools } from './corpus/tools.ts'

/** All attacks that consist of one message. */
export const corpus: readonly Attack[] = [...framing, ...size, ...edge, ...tools]
