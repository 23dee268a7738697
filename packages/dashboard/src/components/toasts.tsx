import { useEffect, useState } from 'preact/hooks'
import { t } from '../locales/translate.ts'

interface Toast {
  readonly id: number
  readonly tone: 'ok' | 'fail'
  readonly text: string
}

let toasts: readonly Toast[] = []
let nextId = 0
const watchers = new Set<(toasts: readonly Toast[]) => void>()
const shownMs = 8_000

function set(next: readonly Toast[]): void {
  toasts = next
  for (const watcher of watchers) watcher(toasts)
}

/** Shows a message for a while. Failures stay until they are closed. */
function toast(tone: Toast['tone'], text: string): void {
  const id = nextId++
  set([...toasts.slice(-3), { id, tone, text }])
  if (tone === 'ok') setTimeout(() => close(id), shownMs)
}

const close = (id: number): void => set(toasts.filter((each) => each.id !== id))

export function Toasts() {
  const [shown, setShown] = useState(toasts)
  useEffect(() => {
    watchers.add(setShown)
    return () => watchers.delete(setShown)
  }, [])
  return (
    <section class="toasts" aria-live="polite" aria-label={t('toasts.label')}>
      {shown.map(({ id, tone, text }) => (
        <div class={`toast ${tone}`} key={id}>
          <span>{text}</span>
          <button type="button" class="plain tiny" onClick={() => close(id)} aria-label={t('close')}>
            ✕
          </button>
        </div>
      ))}
    </section>
  )
}

/** Runs an action, and shows whether it worked; without a text, only if it failed. Returns whether it did. */
export async function act(action: () => Promise<unknown>, done?: string): Promise<boolean> {
  try {
    await action()
    if (done !== undefined) toast('ok', done)
    return true
  } catch (error) {
    toast('fail', error instanceof Error ? error.message : String(error))
    return false
  }
}
