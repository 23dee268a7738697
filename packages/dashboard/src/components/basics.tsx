import type { ComponentChildren } from 'preact'
import type { ApiError } from '../data/api.ts'
import type { PageSession } from '../data/contract.ts'
import { useMay } from '../data/hooks.ts'
import { t } from '../locales/translate.ts'

/** `fail` is for failures only: an intended state is neutral. */
export type Tone = 'ok' | 'warn' | 'fail' | 'info' | 'neutral'

interface BadgeProps {
  readonly tone?: Tone
  /** For states in tables: a dot before the text, and no background while all is well. */
  readonly isDotted?: boolean
  readonly children: ComponentChildren
}

export function Badge({ tone = 'neutral', isDotted = false, children }: BadgeProps) {
  return <span class={`badge ${tone}${isDotted ? ' dotted' : ''}`}>{children}</span>
}

interface ScreenProps {
  readonly title: ComponentChildren
  readonly lead?: ComponentChildren
  /** The screen that this one is a part of. */
  readonly back?: { readonly href: string; readonly text: string }
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
}

export function Screen({ title, lead, back, actions, children }: ScreenProps) {
  return (
    <div class="screen">
      <div class="screen-head">
        <div>
          {back !== undefined && <a href={back.href}>← {back.text}</a>}
          <h1 class="break">{title}</h1>
          {lead !== undefined && <div class="lead break">{lead}</div>}
        </div>
        {actions !== undefined && <div class="row">{actions}</div>}
      </div>
      {children}
    </div>
  )
}

interface CardProps {
  readonly title?: ComponentChildren
  /** Explains the title. */
  readonly note?: ComponentChildren
  readonly isFlush?: boolean
  readonly children: ComponentChildren
}

export function Card({ title, note, isFlush = false, children }: CardProps) {
  return (
    <section class={isFlush ? 'card flush' : 'card'}>
      {title !== undefined && <h2>{title}</h2>}
      {note !== undefined && <p class="card-note">{note}</p>}
      {children}
    </section>
  )
}

interface StatProps {
  readonly label: string
  readonly value: ComponentChildren
  readonly note?: ComponentChildren
}

export function Stat({ label, value, note }: StatProps) {
  return (
    <div class="stat">
      <div class="label">{label}</div>
      <div class="value">{value}</div>
      {note !== undefined && <div class="small muted">{note}</div>}
    </div>
  )
}

/** Says that the user must not do what is offered here, and who may. */
export function NeedsRole({ least }: { readonly least: PageSession['role'] }) {
  return useMay(least) === false ? <p class="muted small">{t('role.needed', { role: least })}</p> : null
}

/** Says what to do where there is nothing to show. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children}
    </div>
  )
}

interface LoadedProps<T> {
  readonly data: T | undefined
  readonly error: ApiError | undefined
  readonly reload: () => void
  readonly children: (data: T) => ComponentChildren
}

/** Shows data once it is there, and until then that it is loading or why it is not. */
export function Loaded<T>({ data, error, reload, children }: LoadedProps<T>) {
  // Signing in again and reconnecting are explained elsewhere; what was removed must not be shown as if it still existed.
  const isGone = error?.status === 404
  if (data !== undefined && !isGone)
    return (
      <>
        {error !== undefined && error.status !== 0 && error.status !== 401 && (
          <div class="card row between" role="alert">
            <span class="break">{t('failed.stale', { message: error.message })}</span>
            <button type="button" onClick={reload}>
              {t('retry')}
            </button>
          </div>
        )}
        {children(data)}
      </>
    )
  if (error === undefined)
    return (
      <div class="skeleton" role="status">
        <span class="visually-hidden">{t('loading')}</span>
      </div>
    )
  return (
    <div class="card" role="alert">
      <Empty title={t('failed.title')}>
        <span class="break">{error.message}</span>
        <button type="button" onClick={reload}>
          {t('retry')}
        </button>
      </Empty>
    </div>
  )
}
