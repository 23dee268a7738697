import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { t } from '../locales/translate.ts'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** A modal dialog. The browser keeps the focus inside and returns it afterwards. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => element.current?.showModal(), [])
  return (
    <dialog ref={element} aria-labelledby={id} onClose={onClose}>
      <div class="stack">
        <div class="row between">
          <h2 id={id} class="break">
            {title}
          </h2>
          <button type="button" class="tiny" onClick={() => element.current?.close()}>
            {t('close')}
          </button>
        </div>
        {children}
      </div>
    </dialog>
  )
}
