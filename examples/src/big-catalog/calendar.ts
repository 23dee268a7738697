import type { Toolbox } from '@unfold-mcp/server'
import { z } from 'zod'
import { cities } from './cities.ts'
import type { Shelf } from './shelves.ts'

const day = 86_400_000
const isoDate = z.iso.date().describe('A date such as 2026-07-28')
const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const

const parsed = (text: string): Date => new Date(`${text}T00:00:00Z`)
const written = (moment: Date): string => moment.toISOString().slice(0, 10)
const later = (moment: Date, days: number): Date => new Date(moment.getTime() + days * day)
const daysBetween = (from: Date, to: Date): number => Math.round((to.getTime() - from.getTime()) / day)

/** Adds months to a date, clamped to the last day of the month. */
function monthsLater(moment: Date, months: number): Date {
  const first = new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth() + months, 1))
  const last = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate()
  return later(first, Math.min(moment.getUTCDate(), last) - 1)
}

const steps: { readonly [unit: string]: (moment: Date, count: number) => Date } = {
  days: later,
  weeks: (moment, count) => later(moment, count * 7),
  months: monthsLater,
  quarters: (moment, count) => monthsLater(moment, count * 3),
  years: (moment, count) => monthsLater(moment, count * 12),
  business_days: (moment, count) => {
    let made = moment
    for (let left = Math.abs(count); left > 0; ) {
      made = later(made, Math.sign(count))
      if (isBusinessDay(made)) left--
    }
    return made
  },
}

const isBusinessDay = (moment: Date): boolean => moment.getUTCDay() % 6 !== 0
const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)

/** Returns the full months between two dates. */
function monthsBetween(from: Date, to: Date): number {
  const months = (to.getUTCFullYear() - from.getUTCFullYear()) * 12 + to.getUTCMonth() - from.getUTCMonth()
  return months - (monthsLater(from, months) > to ? 1 : 0)
}

const differences: { readonly [unit: string]: (from: Date, to: Date) => number } = {
  days: daysBetween,
  weeks: (from, to) => Math.trunc(daysBetween(from, to) / 7),
  months: monthsBetween,
  years: (from, to) => Math.trunc(monthsBetween(from, to) / 12),
  business_days: (from, to) =>
    Array.from({ length: Math.max(0, daysBetween(from, to)) }, (_, index) => later(from, index + 1)).filter(isBusinessDay).length,
}

/** Returns the ISO 8601 week: the first week has the first Thursday. */
function isoWeek(moment: Date): { year: number; week: number } {
  const thursday = later(moment, 3 - ((moment.getUTCDay() + 6) % 7))
  const year = thursday.getUTCFullYear()
  return { year, week: Math.floor(daysBetween(new Date(Date.UTC(year, 0, 1)), thursday) / 7) + 1 }
}

/** Returns Easter Sunday in the Gregorian calendar. */
function easter(year: number): Date {
  const golden = year % 19
  const century = Math.floor(year / 100)
  const moon = (century - Math.floor(century / 4) - Math.floor((8 * century + 13) / 25) + 19 * golden + 15) % 30
  const full = moon - Math.floor(moon / 28) * (1 - Math.floor(29 / (moon + 1)) * Math.floor((21 - golden) / 11))
  const weekday = (year + Math.floor(year / 4) + full + 2 - century + Math.floor(century / 4)) % 7
  return later(new Date(Date.UTC(year, 2, 28)), full - weekday)
}

const newMoon = Date.UTC(2000, 0, 6, 18, 14)
const moonMonth = 29.530588853
const phases = [
  'new moon',
  'waxing crescent',
  'first quarter',
  'waxing gibbous',
  'full moon',
  'waning gibbous',
  'last quarter',
  'waning crescent',
]

export function addCalendar(workshop: Toolbox<Shelf>): void {
  const shelf = { group: 'calendar', readOnly: true } as const
  const one = z.object({ date: isoDate })
  const anyYear = z.object({ year: z.int().min(1).max(9_999) })

  for (const [unit, step] of Object.entries(steps)) {
    const words = unit.replaceAll('_', ' ')
    const inputSchema = z.object({ date: isoDate, count: z.int().min(0).max(10_000) })
    workshop.tool(`add_${unit}`, { ...shelf, description: `Add ${words} to a date.`, inputSchema }, ({ date, count }) =>
      written(step(parsed(date), count)),
    )
    workshop.tool(
      `subtract_${unit}`,
      { ...shelf, description: `Subtract ${words} from a date.`, inputSchema },
      ({ date, count }) => written(step(parsed(date), -count)),
    )
  }
  for (const [unit, difference] of Object.entries(differences)) {
    const description = `Count the whole ${unit.replaceAll('_', ' ')} between two dates.`
    workshop.tool(
      `${unit}_between`,
      { ...shelf, description, inputSchema: z.object({ from: isoDate, to: isoDate }) },
      ({ from, to }) => ({
        [unit]: difference(parsed(from), parsed(to)),
      }),
    )
  }
  for (const [index, name] of weekdays.entries()) {
    workshop.tool(
      `next_${name}`,
      { ...shelf, description: `The next ${capital(name)} after a date.`, inputSchema: one },
      ({ date }) => written(later(parsed(date), ((index - parsed(date).getUTCDay() + 6) % 7) + 1)),
    )
    workshop.tool(
      `previous_${name}`,
      { ...shelf, description: `The last ${capital(name)} before a date.`, inputSchema: one },
      ({ date }) => written(later(parsed(date), -(((parsed(date).getUTCDay() - index + 6) % 7) + 1))),
    )
  }

  workshop.tool('weekday', { ...shelf, description: 'The day of the week of a date.', inputSchema: one }, ({ date }) =>
    capital(weekdays[parsed(date).getUTCDay()] ?? ''),
  )
  workshop.tool(
    'week_number',
    { ...shelf, description: 'The week of the year of a date (ISO 8601).', inputSchema: one },
    ({ date }) => isoWeek(parsed(date)),
  )
  workshop.tool(
    'day_of_year',
    { ...shelf, description: 'How many days into its year a date is.', inputSchema: one },
    ({ date }) => ({
      day: daysBetween(new Date(Date.UTC(parsed(date).getUTCFullYear(), 0, 1)), parsed(date)) + 1,
    }),
  )
  workshop.tool('quarter', { ...shelf, description: 'The quarter of the year of a date.', inputSchema: one }, ({ date }) => ({
    quarter: Math.floor(parsed(date).getUTCMonth() / 3) + 1,
  }))
  workshop.tool(
    'days_in_month',
    { ...shelf, description: 'How many days the month of a date has.', inputSchema: one },
    ({ date }) => ({
      days: new Date(Date.UTC(parsed(date).getUTCFullYear(), parsed(date).getUTCMonth() + 1, 0)).getUTCDate(),
    }),
  )
  workshop.tool(
    'is_leap_year',
    { ...shelf, description: 'Say whether a year is a leap year.', inputSchema: anyYear },
    ({ year }) => ({
      leap: isLeap(year),
    }),
  )
  workshop.tool(
    'easter_sunday',
    { ...shelf, description: 'When Easter is in a year.', inputSchema: z.object({ year: z.int().min(1_583).max(9_999) }) },
    ({ year }) => written(easter(year)),
  )
  workshop.tool(
    'moon_phase',
    { ...shelf, description: 'The phase of the moon on a date, about.', inputSchema: one },
    ({ date }) => {
      const age = ((((parsed(date).getTime() + day / 2 - newMoon) / day) % moonMonth) + moonMonth) % moonMonth
      return { phase: phases[Math.round((age / moonMonth) * 8) % 8], days: Math.round(age * 10) / 10 }
    },
  )
  workshop.tool(
    'to_unix_time',
    {
      ...shelf,
      description: 'Seconds since 1970 of a date and time (Unix timestamp).',
      inputSchema: z.object({ time: z.iso.datetime({ offset: true }) }),
    },
    ({ time }) => ({
      seconds: Math.floor(Date.parse(time) / 1_000),
    }),
  )
  workshop.tool(
    'from_unix_time',
    {
      ...shelf,
      description: 'The date and time of a Unix timestamp.',
      inputSchema: z.object({ seconds: z.number().min(-8.64e12).max(8.64e12) }),
    },
    ({ seconds }) => new Date(seconds * 1_000).toISOString(),
  )

  const moment = z.object({ time: z.iso.datetime({ offset: true }).describe('Such as 2026-07-28T12:00:00Z') })
  for (const { name, zone } of cities) {
    const description = `What time it is in ${name} at a given moment (time zone ${zone}).`
    // The Swedish locale formats dates like ISO 8601.
    const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' })
    workshop.tool(
      `time_in_${name.toLowerCase().replaceAll(' ', '_')}`,
      { ...shelf, description, inputSchema: moment },
      ({ time }) => format.format(new Date(time)),
    )
  }
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
