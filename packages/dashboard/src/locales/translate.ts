import { en } from './en.ts'

/** A message, or its forms by number. `{name}` is replaced by the value of that name. */
type Message = string | { readonly one: string; readonly other: string }

export type MessageKey = keyof typeof en

// Another language is another file with the same keys, chosen here.
const messages: { readonly [K in MessageKey]: Message } = en
const locale = 'en'
const plural = new Intl.PluralRules(locale)
const numbers = new Intl.NumberFormat(locale)

export function t(key: MessageKey, values: { readonly [name: string]: string | number } = {}): string {
  const message = messages[key]
  const text = typeof message === 'string' ? message : plural.select(Number(values.count)) === 'one' ? message.one : message.other
  return text.replaceAll(/\{(\w+)\}/gu, (whole, name: string) => {
    const value = values[name]
    if (value === undefined) return whole
    return typeof value === 'number' ? numbers.format(value) : value
  })
}

// Minus zero becomes zero.
export const formatNumber = (value: number): string => numbers.format(Math.round(value) + 0)

export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min`
  if (ms < 86_400_000) return `${Math.floor(ms / 3_600_000)} h`
  return `${Math.floor(ms / 86_400_000)} d`
}

const times = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' })
const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' })

export const formatTime = (at: string): string => (Number.isNaN(Date.parse(at)) ? at : times.format(new Date(at)))
export const formatDate = (at: string): string => (Number.isNaN(Date.parse(at)) ? at : dates.format(new Date(at)))
export const formatPercent = (share: number): string => `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`
