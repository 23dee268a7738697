/// <reference lib="dom" />
import type { Vitals } from '../reports.ts'
import type { SendReport } from './actions.ts'

/** Runs in pages: measures performance, and returns the function that reads it. Self-contained, because its source text is sent. */
export function measureVitals(send: SendReport): () => Vitals {
  const settleMs = 1_000
  const soFarMs = 100
  const maxInteractions = 10
  const longest: { id: number; ms: number }[] = []
  const observers: { readonly observer: PerformanceObserver; readonly take: (entries: PerformanceEntryList) => void }[] = []
  let fcp: number | undefined
  let lcp: number | undefined
  let cls: number | undefined
  let shift = { value: 0, startedAt: 0, endedAt: Number.NEGATIVE_INFINITY }
  let tasks = { count: 0, total: 0, longest: 0 }
  let interactions = 0
  let isLcpOver = false
  // Nothing before the page has loaded and was measured once.
  let telling = -1

  const observe = (type: string, take: (entries: PerformanceEntryList) => void, options: object = {}): void => {
    if (!PerformanceObserver.supportedEntryTypes.includes(type)) return
    const observer = new PerformanceObserver((list) => {
      take(list.getEntries())
      tellSoFar()
    })
    observer.observe({ type, buffered: true, ...options })
    observers.push({ observer, take })
  }
  // Reported regularly, because a page being left may have no chance to send it.
  const tellSoFar = (): void => {
    if (telling !== 0) return
    telling = window.setTimeout(() => {
      telling = 0
      send({ ...measure(), isSoFar: true })
    }, soFarMs)
  }
  const startedAt = (): number => {
    const [navigation] = performance.getEntriesByType('navigation') as (PerformanceNavigationTiming & {
      activationStart?: number
    })[]
    return navigation?.activationStart ?? 0
  }

  observe('paint', (entries) => {
    for (const entry of entries) if (entry.name === 'first-contentful-paint') fcp = Math.max(0, entry.startTime - startedAt())
  })
  observe('largest-contentful-paint', (entries) => {
    const last = entries[entries.length - 1]
    if (last !== undefined && !isLcpOver) lcp = Math.max(0, last.startTime - startedAt())
  })
  // Layout shifts within one second of each other, at most five seconds in total, form a session; the worst one is the CLS.
  if (PerformanceObserver.supportedEntryTypes.includes('layout-shift')) cls = 0
  observe('layout-shift', (entries) => {
    for (const entry of entries as (PerformanceEntry & { value: number; hadRecentInput: boolean })[]) {
      if (entry.hadRecentInput) continue
      const isSame = entry.startTime - shift.endedAt < 1_000 && entry.startTime - shift.startedAt < 5_000
      shift = {
        value: isSame ? shift.value + entry.value : entry.value,
        startedAt: isSame ? shift.startedAt : entry.startTime,
        endedAt: entry.startTime,
      }
      cls = Math.max(cls ?? 0, shift.value)
    }
  })
  observe('longtask', (entries) => {
    for (const { duration } of entries) {
      tasks = { count: tasks.count + 1, total: tasks.total + duration, longest: Math.max(tasks.longest, duration) }
    }
  })
  const interacted = (entries: PerformanceEntryList): void => {
    for (const { duration, interactionId: id } of entries as (PerformanceEntry & { interactionId?: number })[]) {
      if (id === undefined || id === 0) continue
      const known = longest.find((each) => each.id === id)
      if (known !== undefined) known.ms = Math.max(known.ms, duration)
      else {
        interactions += 1
        longest.push({ id, ms: duration })
      }
      longest.sort((a, b) => b.ms - a.ms)
      longest.splice(maxInteractions)
    }
  }
  observe('event', interacted, { durationThreshold: 16 })
  observe('first-input', interacted)

  /** Worst interaction, ignoring one in fifty (INP). */
  const inpNow = (): number | undefined => {
    const count = (performance as Performance & { interactionCount?: number }).interactionCount ?? interactions
    return longest[Math.min(longest.length - 1, Math.floor(count / 50))]?.ms
  }
  const rounded = (value: number, digits = 1): number => Math.round(value * 10 ** digits) / 10 ** digits
  const measure = (): Vitals => {
    for (const { observer, take } of observers) {
      const waiting = observer.takeRecords()
      if (waiting.length > 0) take(waiting)
    }
    const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
    const since = startedAt()
    const at = (moment: number | undefined): number | undefined =>
      moment === undefined || moment <= 0 ? undefined : rounded(Math.max(0, moment - since))
    const values = {
      ttfb: at(navigation?.responseStart),
      fcp: fcp === undefined ? undefined : rounded(fcp),
      lcp: lcp === undefined ? undefined : rounded(lcp),
      cls: cls === undefined ? undefined : rounded(cls, 4),
      inp: inpNow(),
      domContentLoaded: at(navigation?.domContentLoadedEventEnd),
      load: at(navigation?.loadEventEnd),
    }
    return {
      kind: 'vitals',
      url: location.href.slice(0, 8_000),
      ...(Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<Vitals>),
      longTasks: { count: tasks.count, total: rounded(tasks.total), longest: rounded(tasks.longest) },
    }
  }

  const isPage = /^(?:https?|file|chrome-extension):$/.test(location.protocol)
  const sendSoon = (): void => {
    setTimeout(() => {
      send(measure())
      telling = 0
    }, settleMs)
  }
  if (isPage) {
    if (document.readyState === 'complete') sendSoon()
    else window.addEventListener('load', (event) => event.isTrusted && sendSoon(), { once: true, capture: true })
    window.addEventListener('pagehide', (event) => event.isTrusted && send(measure()), { capture: true })
    for (const name of ['keydown', 'pointerdown']) {
      const stop = (event: Event): void => {
        // Paints after the first user input do not count for LCP.
        if (event.isTrusted) isLcpOver = true
      }
      window.addEventListener(name, stop, { capture: true, passive: true })
    }
  }
  return measure
}
