import type { Driver } from './drivers/driver.ts'
import { type Facts, factsOf } from './facts.ts'
import { fullTitle } from './installed.ts'
import { inPairs } from './pairs.ts'
import { tableOf } from './table.ts'

/** A host with its observed behaviour. */
export interface Observed {
  readonly host: string
  readonly wire: string
  readonly facts: Facts
}

/** Connects every host to the probe. */
export function observed(drivers: readonly Driver[]): Promise<readonly Observed[]> {
  return inPairs(drivers, async (driver) => {
    const facts = await factsOf(driver)
    console.error(`${fullTitle(driver)}: observed`)
    return { host: fullTitle(driver), wire: driver.wire, facts }
  })
}

/** Renders the facts as a Markdown table with a row per fact and a column per host. */
export function factsTable(all: readonly Observed[]): string {
  return tableOf([
    ['', ...all.map(({ host }) => host)],
    ...Object.entries(rows).map(([title, read]) => [title, ...all.map((each) => read(each))]),
  ])
}

const yes = (value: boolean | undefined): string => (value === undefined ? '–' : value ? 'yes' : 'no')
const limit = (value: number | undefined): string =>
  value === undefined ? 'none seen' : value === 0 ? 'not shown' : `about ${value}`

const rows: { readonly [title: string]: (observed: Observed) => string } = {
  'Model API': ({ wire }) => wire,
  clientInfo: ({ facts: { clientInfo } }) => (clientInfo === undefined ? 'none' : `\`${clientInfo.name}\` ${clientInfo.version}`),
  'First request': ({ facts: { firstRequest, revision } }) => `\`${firstRequest}\`, ${revision}`,
  Capabilities: ({ facts: { capabilities } }) => capabilities.join(', '),
  'Passes to the model': ({ facts: { passes } }) => passes,
  'Sees a new tool': ({ facts: { relists } }) => relists,
  'Defers tools itself': ({ facts: { defers } }) => yes(defers),
  'Reads anthropic/alwaysLoad': ({ facts: { readsAlwaysLoad } }) => yes(readsAlwaysLoad),
  'Reads anthropic/searchHint': ({ facts: { readsSearchHint } }) => yes(readsSearchHint),
  'Cuts descriptions at': ({ facts: { descriptionLimit } }) => limit(descriptionLimit),
  'Cuts instructions at': ({ facts: { instructionsLimit } }) => limit(instructionsLimit),
  'Changes or drops names': ({ facts: { names } }) => changedNames(names),
  'Changes or drops schema keywords': ({ facts: { droppedKeywords } }) => droppedKeywords.join(', ') || 'none',
}

/** Returns the length from which on the host changes a name. */
function changedNames(names: Facts['names']): string {
  const changed = Object.entries(names).filter(
    ([length, name]) => name === undefined || !name.includes('x'.repeat(Number(length) - 10)),
  )
  const [first] = changed
  if (first === undefined) return 'none up to 128'
  const [length, name] = first
  return name === undefined ? `dropped from ${length} characters` : `from ${length} characters: ${name.length} in all`
}
