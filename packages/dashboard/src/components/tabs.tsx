import type { ComponentChildren } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'

export interface Tab {
  readonly key: string
  readonly title: string
  readonly content: () => ComponentChildren
}

/** Tabs with arrow keys, Home and End. */
export function Tabs({
  label,
  tabs,
  initial,
}: {
  readonly label: string
  readonly tabs: readonly Tab[]
  readonly initial?: string
}) {
  const [key, setKey] = useState(initial)
  const list = useRef<HTMLDivElement>(null)
  const id = useId()
  const selected = tabs.find((tab) => tab.key === key) ?? tabs[0]
  const move = (event: KeyboardEvent): void => {
    const at = selected === undefined ? -1 : tabs.indexOf(selected)
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key]
    if (next === undefined) return
    event.preventDefault()
    const index = (next + tabs.length) % tabs.length
    setKey(tabs[index]?.key)
    list.current?.querySelectorAll('button')[index]?.focus()
  }
  if (selected === undefined) return null
  return (
    <section class="card flush">
      <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
        {tabs.map((tab) => (
          <button
            key={tab.key}
            type="button"
            role="tab"
            id={`${id}-${tab.key}`}
            aria-selected={tab === selected}
            aria-controls={`${id}-panel`}
            tabIndex={tab === selected ? 0 : -1}
            onClick={() => setKey(tab.key)}
          >
            {tab.title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${selected.key}`} key={selected.key}>
        {selected.content()}
      </div>
    </section>
  )
}
