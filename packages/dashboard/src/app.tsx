import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
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

const icons: { readonly [S in ScreenName]: string } = {
  overview: 'M2.5 2.5h4.5v4.5h-4.5zM9 2.5h4.5v4.5h-4.5zM2.5 9h4.5v4.5h-4.5zM9 9h4.5v4.5h-4.5z',
  servers: 'M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01',
  clients: 'M1.5 8c3-5 10-5 13 0-3 5-10 5-13 0zM6 8a2 2 0 1 0 4 0 2 2 0 1 0-4 0z',
  tools: 'M9.5 6.5l-6.5 6.5M13.5 4.5a3 3 0 0 1-4 2.5 3 3 0 0 1 2-4.5l-.5 2z',
  review: 'M2.5 8.5l3.5 3.5 7.5-8',
  activity: 'M1.5 8h3l2-5 3 10 2-5h3',
  usage: 'M3 13.5v-5M8 13.5v-11M13 13.5v-8',
  connect: 'M6.5 9.5l3-3M7 5l2-2a2.8 2.8 0 0 1 4 4l-2 2M9 11l-2 2a2.8 2.8 0 0 1-4-4l2-2',
}

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
        <Sidebar current={name} path={path} />
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
  if (name === 'clients') return <Clients query={route.query} />
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

function Sidebar({ current, path }: { readonly current: ScreenName; readonly path: string }) {
  const { data } = useQuery<Status>('/status', ['state', 'trust', 'config', 'change'])
  const waiting =
    data === undefined ? 0 : data.pendingCalls + data.edits.length + data.upstreams.reduce((sum, { held }) => sum + held, 0)
  const [isOpen, setOpen] = useState(false)
  // The menu of a small screen is in the way once a screen was chosen.
  useEffect(() => setOpen(false), [path])
  return (
    <header class={isOpen ? 'sidebar open' : 'sidebar'}>
      <a class="brand" href={href(['overview'])}>
        <svg width="22" height="22" viewBox="0 0 22 22" aria-hidden="true">
          <path d="M3 5h16M6 11h13M10 17h9" stroke="currentColor" stroke-width="3" stroke-linecap="round" />
        </svg>
        Unfold
      </a>
      <button type="button" class="menu" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {t('menu')}
        {waiting > 0 && <span class="badge warn">{waiting}</span>}
      </button>
      <nav aria-label={t('nav.label')}>
        <ul>
          {screens.map((name) => (
            <li key={name}>
              <a href={href([name])} aria-current={name === current ? 'page' : undefined}>
                <svg
                  width="16"
                  height="16"
                  viewBox="0 0 16 16"
                  fill="none"
                  stroke="currentColor"
                  stroke-width="1.5"
                  aria-hidden="true"
                >
                  <path d={icons[name]} />
                </svg>
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
        {data !== undefined && <span>{t('version', { version: data.version })}</span>}
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
    <label class="row small between">
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
