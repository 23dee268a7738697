import { isAbsolute, normalize } from 'node:path'
import { allOf, type Outcome } from './outcome.ts'
import { pathReadings } from './path-readings.ts'
import { realPath } from './real-path.ts'

export interface PathPlaces {
  /** Absolute paths. */
  readonly folders: readonly string[]
  /** Where relative paths start; `undefined`: unknown. */
  readonly base: string | undefined
}

/** Whether a path leads into one of the folders. It does only if every reading of the text does. */
export async function isInside(text: string, { folders, base }: PathPlaces): Promise<Outcome> {
  // Short names, devices, streams and drives have too many spellings.
  if (process.platform === 'win32') return 'unknown'
  const readings = pathReadings(text)?.map((reading) => absolute(reading, base))
  if (readings === undefined) return 'unknown'
  const roots = await Promise.all(folders.map(realPath))
  const outcomes: Outcome[] = []
  for (const reading of readings) {
    if (reading === undefined) return 'unknown'
    // Some programs remove `..` before they follow links, others afterwards.
    for (const path of new Set([reading, normalize(reading)])) {
      const real = await realPath(path)
      outcomes.push(real === undefined ? 'unknown' : relation(real, roots))
    }
  }
  return allOf(outcomes)
}

const absolute = (path: string, base: string | undefined): string | undefined =>
  isAbsolute(path) ? path : base === undefined ? undefined : `${base}/${path}`

function relation(path: string, roots: readonly (string | undefined)[]): Outcome {
  const outcomes = roots.map((root) => (root === undefined ? 'unknown' : isBelow(path, root)))
  return outcomes.includes('yes') ? 'yes' : outcomes.includes('unknown') ? 'unknown' : 'no'
}

/** `unknown` if it depends on whether the file system distinguishes upper and lower case or forms of the same character. */
function isBelow(path: string, root: string): Outcome {
  const contains = (folder: string, each: string): boolean => folder === '/' || each === folder || each.startsWith(`${folder}/`)
  if (contains(root, path)) return 'yes'
  return contains(folded(root), folded(path)) ? 'unknown' : 'no'
}

const folded = (path: string): string => path.normalize('NFKD').toUpperCase().toLowerCase()
