import { measures } from './units.ts'

const crafts = {
  calendar: 'Dates: add, compare, weekdays, the time in cities',
  colours: 'Colours: convert, mix, compare',
  encodings: 'Encode, decode and hash text',
  geometry: 'Areas, perimeters, surfaces and volumes of shapes',
  music: 'Notes, chords and scales',
  numbers: 'Arithmetic, primes, number systems',
  statistics: 'Statistics of a list of numbers',
  text: 'Change, count and compare text',
} as const

export type Shelf = keyof typeof crafts | keyof typeof measures

const converting = Object.entries(measures).map(([name, { units }]) => [
  name,
  `Convert ${name.replaceAll('_', ' ')}: ${units.map(({ plural }) => plural).join(', ')}`,
])

/** The groups: one for each domain, and one for each quantity. */
export const shelves = Object.fromEntries(
  [...Object.entries(crafts), ...converting].map(([name, description]) => [name, { description }]),
) as { readonly [S in Shelf]: { readonly description: string } }
