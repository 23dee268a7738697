import { readFile } from 'node:fs/promises'
import { type Instruction, stagesOf } from './dockerfile.ts'

const stages = stagesOf(await readFile(new URL('../../Dockerfile', import.meta.url), 'utf8'))

/** The stage of the Dockerfile that packs the packages. */
export const build: readonly Instruction[] = stages[0] ?? []

/** The stage of the Dockerfile that becomes the image. */
export const image: readonly Instruction[] = stages[1] ?? []
