import { makeAria } from '../base/aria.ts'
import { watchActions } from './page/actions.ts'
import { makeSelectorsOf } from './page/selectors.ts'
import { measureVitals } from './page/vitals.ts'
import { reportLimit, valueLimit } from './reports.ts'

/** Isolated world of the injected script: the page can neither see nor change it. */
export const world = 'unfold'
/** Binding in that world that sends reports. */
export const binding = 'unfoldTell'
/** Expression in that world that returns the measurements. */
export const measuring = 'JSON.stringify(unfoldMeasure())'
/** Same expression for a page about to unload: sends buffered reports first. */
export const measuringOnLeave = '(unfoldFlush(), JSON.stringify(unfoldMeasure()))'

// More than a user does in a second is a bug or an attack by the page.
const maxPerSecond = 50

/** Script injected into every page and frame. */
export const injected = `(() => {
  if (globalThis.unfoldIsHere) return
  globalThis.unfoldIsHere = true
  const send = globalThis.${binding}
  if (typeof send !== 'function') return
  let second = 0
  let told = 0
  const tell = (report) => {
    const now = Math.floor(performance.now() / 1000)
    if (now !== second) { second = now; told = 0 }
    if (++told > ${maxPerSecond}) return
    try {
      const text = JSON.stringify(report)
      if (text.length <= ${reportLimit}) send(text)
    } catch {}
  }
  const selectorsOf = (${makeSelectorsOf.toString()})(${makeAria.toString()})
  const flush = (${watchActions.toString()})(tell, selectorsOf, ${valueLimit})
  if (window !== window.top) return
  globalThis.unfoldFlush = flush
  globalThis.unfoldMeasure = (${measureVitals.toString()})(tell)
  const focused = () => { try { if (document.visibilityState === 'visible' && document.hasFocus()) tell({ kind: 'focus' }) } catch {} }
  window.addEventListener('focus', (event) => { if (event.isTrusted && event.target === window) focused() }, true)
  document.addEventListener('visibilitychange', (event) => { if (event.isTrusted) focused() }, true)
})()`
