import type { ComponentChildren } from 'preact'
import type { ApiError } from '../data/api.ts'
import { t } from '../locales/translate.ts'

/** `fail` is for failures only: an intended state is neutral. */
export type Tone = 'ok' | 'warn' | 'fail' | 'info' | 'neutral'

export function Badge({ tone = 'neutral', children }: { readonly tone?: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>
}

interface ScreenProps {
  readonly title: ComponentChildren
  readonly lead?: ComponentChildren
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
}

export function Screen({ title, lead, actions, children }: ScreenProps) {
  return (
    <div class="screen">
      <div class="screen-head">
        <div>
          <h1 class="break">{title}</h1>
          {lead !== undefined && <p>{lead}</p>}
        </div>
        {actions !== undefined && <div class="row">{actions}</div>}
      </div>
      {children}
    </div>
  )
}

interface CardProps {
  readonly title?: ComponentChildren
  readonly isFlush?: boolean
  readonly children: ComponentChildren
}

export function Card({ title, isFlush = false, children }: CardProps) {
  return (
    <section class={isFlush ? 'card flush' : 'card'}>
      {title !== undefined && <h2>{title}</h2>}
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
    <div class="card stat">
      <div class="label">{label}</div>
      <div class="value">{value}</div>
      {note !== undefined && <div class="small muted">{note}</div>}
    </div>
  )
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
