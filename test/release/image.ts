import { readFile } from 'node:fs/promises'
import { stagesOf } from './dockerfile.ts'

/** Stages of the Dockerfile: how the packages are packed, and the image. */
export const [build = [], image = []] = stagesOf(await readFile(new URL('../../Dockerfile', import.meta.url), 'utf8'))
