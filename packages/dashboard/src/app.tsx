import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Toasts } from './components/toasts.tsx'
import type { Status } from './data/contract.ts'
import { useConnection, useQuery } from './data/hooks.ts'
import { live } from './data/stream.ts'
import { type MessageKey, t } from './locales/translate.ts'
import { href, type Route, useRoute } from './router/route.ts'
import { Activity } from './screens/activity.tsx'
import { Clients } from './screens/clients.tsx'
import { Connect } from './screens/connect.tsx'
import { Overview } from './screens/overview.tsx'
import { Review } from './screens/review.tsx'
import { ServerDetail } from './screens/server.tsx'
import { Servers } from './screens/servers.tsx'
import { SignIn, SignInDialog } from './screens/sign-in.tsx'
import { ToolScreen } from './screens/tool/tool.tsx'
import { Tools } from './screens/tools.tsx'
import { Usage } from './screens/usage.tsx'
import { applyTheme, storedTheme, type ThemePreference } from './theme/preference.ts'

const screens = ['overview', 'servers', 'clients', 'tools', 'review', 'activity', 'usage', 'connect'] as const
type ScreenName = (typeof screens)[number]

const titleOf = (name: ScreenName): MessageKey => `nav.${name}`

export function App() {
  const connection = useConnection()
  const route = useRoute()
  const main = useRef<HTMLElement>(null)
  const name = screens.find((each) => each === route.path[0]) ?? 'overview'
  const path = route.path.join('/')
  const isFirst = useRef(true)
  // Before the next key or click, which the focus must not be taken from.
  useLayoutEffect(() => {
    document.title = `${route.path[1] ?? t(titleOf(name))} – Unfold`
    // A new screen starts at its top, for the keyboard and for screen readers too.
    if (!isFirst.current) main.current?.focus()
    isFirst.current = false
  }, [path])
  const isSignedOut = connection === 'signed-out'
  const wasOpen = useRef(false)
  if (connection === 'open') wasOpen.current = true
  if (isSignedOut && !wasOpen.current) return <SignIn />
  return (
    <>
      {/* biome-ignore lint/a11y/useValidAnchor: a link inside the page, whose fragment would be taken for a screen */}
      <a
        class="skip-link"
        href="#main"
        onClick={(event) => {
          event.preventDefault()
          main.current?.focus()
        }}
      >
        {t('skip')}
      </a>
      <div class="shell">
        <Sidebar current={name} />
        <div>
          {connection === 'lost' && <LostConnection />}
          <main id="main" tabIndex={-1} ref={main}>
            <CurrentScreen name={name} route={route} />
          </main>
        </div>
      </div>
      <Toasts />
      {/* The screen stays, so that filters and half-filled forms are still there after the sign-in. */}
      {isSignedOut && <SignInDialog />}
    </>
  )
}

function CurrentScreen({ name, route }: { readonly name: ScreenName; readonly route: Route }) {
  const [, detail] = route.path
  if (name === 'servers' && detail !== undefined) return <ServerDetail key={detail} name={detail} />
  if (name === 'overview') return <Overview />
  if (name === 'servers') return <Servers />
  if (name === 'clients') return <Clients />
  if (name === 'tools') return detail === undefined ? <Tools /> : <ToolScreen key={detail} name={detail} />
  if (name === 'review') return <Review />
  if (name === 'activity') return <Activity query={route.query} />
  return name === 'usage' ? <Usage /> : <Connect />
}

function LostConnection() {
  return (
    <div class="banner" role="alert">
      <strong>{t('lost.title')}</strong>
      <span>{t('lost.text')}</span>
      <button type="button" class="tiny" onClick={() => live.retry()}>
        {t('lost.retry')}
      </button>
    </div>
  )
}

function Sidebar({ current }: { readonly current: ScreenName }) {
  const { data } = useQuery<Status>('/status', ['state', 'trust', 'config', 'change'])
  const waiting =
    data === undefined ? 0 : data.pendingCalls + data.edits.length + data.upstreams.reduce((sum, { held }) => sum + held, 0)
  return (
    <header class="sidebar">
      <a class="brand" href={href(['overview'])}>
        <svg width="22" height="22" viewBox="0 0 22 22" aria-hidden="true">
          <path d="M3 5h16M6 11h13M10 17h9" stroke="currentColor" stroke-width="3" stroke-linecap="round" />
        </svg>
        Unfold
      </a>
      <nav aria-label={t('nav.label')}>
        <ul>
          {screens.map((name) => (
            <li key={name}>
              <a href={href([name])} aria-current={name === current ? 'page' : undefined}>
                {t(titleOf(name))}
                {name === 'review' && waiting > 0 && <span class="badge warn">{waiting}</span>}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="sidebar-foot small">
        <Connection />
        <ThemeSwitch />
        {data !== undefined && <span class="muted hide-small">{t('version', { version: data.version })}</span>}
      </div>
    </header>
  )
}

function Connection() {
  const state = useConnection()
  const tone = state === 'open' ? 'ok' : state === 'lost' ? 'warn' : ''
  return (
    <div class="connection" role="status">
      <span class={`dot ${tone}`} aria-hidden="true" />
      {t(state === 'open' ? 'connection.open' : state === 'lost' ? 'connection.lost' : 'connection.connecting')}
    </div>
  )
}

function ThemeSwitch() {
  const [theme, setTheme] = useState(storedTheme)
  return (
    <label class="row small">
      <span>{t('theme')}</span>
      <select
        value={theme}
        onChange={(event) => {
          const next = event.currentTarget.value as ThemePreference
          applyTheme(next)
          setTheme(next)
        }}
      >
        <option value="system">{t('theme.system')}</option>
        <option value="light">{t('theme.light')}</option>
        <option value="dark">{t('theme.dark')}</option>
      </select>
    </label>
  )
}
