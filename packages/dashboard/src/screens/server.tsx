import { unfold } from '../commands/command.ts'
import { Card, Empty, Loaded, Screen } from '../components/basics.tsx'
import { Command } from '../components/command.tsx'
import { Table } from '../components/table.tsx'
import { Tabs } from '../components/tabs.tsx'
import { act } from '../components/toasts.tsx'
import { send } from '../data/api.ts'
import type { LogLine, Server, ServerState, Status, Tool } from '../data/contract.ts'
import { useMay, useQuery } from '../data/hooks.ts'
import { formatDuration, formatTime, t } from '../locales/translate.ts'
import { href } from '../router/route.ts'
import { Documents } from './server-parts/documents.tsx'
import { History } from './server-parts/history.tsx'
import { Settings } from './server-parts/settings.tsx'
import { ServerSignIn } from './server-parts/sign-in.tsx'
import { nextStep, reasonOf, State, toneOf } from './state.tsx'
import { toolColumns } from './tool-columns.tsx'

export function ServerDetail({ name }: { readonly name: string }) {
  const status = useQuery<Status>('/status', ['config', 'state'])
  const missing = status.data?.notStarted.find((server) => server.name === name)
  return missing === undefined ? <StartedServer name={name} /> : <NotStarted name={name} problems={missing.problems} />
}

interface NotStartedProps {
  readonly name: string
  readonly problems: Status['notStarted'][number]['problems']
}

/** A server whose configuration is incomplete or waits for approval: why, and where to fix it. */
function NotStarted({ name, problems }: NotStartedProps) {
  return (
    <Screen title={name} back={{ href: href(['servers']), text: t('server.back') }} lead={<State state="not_started" />}>
      <Card title={t('concern.not-started', { server: name })}>
        <div class="stack">
          {problems.map(({ message }) => (
            <p key={message} class="callout fail">
              {message}
            </p>
          ))}
          <p class="muted">{t('server.not-started.next')}</p>
          <Command text={unfold('reload')} />
        </div>
      </Card>
      <Card isFlush title={t('server.settings')}>
        <Settings name={name} />
      </Card>
    </Screen>
  )
}

function StartedServer({ name }: { readonly name: string }) {
  const path = encodeURIComponent(name)
  const server = useQuery<Server>(`/upstreams/${path}`, ['state', 'trust', 'change', 'call', 'config'])
  const mayRestart = useMay('operator') === true
  const restart = (): void => void act(() => send('POST', `/upstreams/${path}/restart`), t('server.restarted', { server: name }))
  return (
    <Screen
      title={name}
      back={{ href: href(['servers']), text: t('server.back') }}
      lead={server.data !== undefined && <StateLine server={server.data} />}
      actions={
        <>
          <Toggle name={name} state={server.data?.state} onDone={server.reload} />
          <button type="button" onClick={restart} disabled={server.data?.state === 'disabled' || !mayRestart}>
            {t('server.restart')}
          </button>
        </>
      }
    >
      <Loaded {...server}>
        {(data) => (
          <>
            <Summary server={data} />
            <Tabs
              label={name}
              // Where the reason is.
              initial={data.state === 'failed' ? 'stderr' : 'tools'}
              tabs={[
                { key: 'tools', title: t('server.tools', { count: data.offered }), content: () => <ToolsOf name={name} /> },
                {
                  key: 'documents',
                  title: t('server.documents'),
                  content: () => <Documents name={name} />,
                },
                { key: 'history', title: t('server.history'), content: () => <History name={name} /> },
                { key: 'stderr', title: t('server.stderr'), content: () => <Lines name={name} source="stderr" /> },
                { key: 'logs', title: t('server.logs'), content: () => <Lines name={name} source="logs" /> },
                {
                  key: 'notes',
                  title: t('server.notes', { count: data.notes.length + data.findingCount }),
                  content: () => <Notes server={data} />,
                },
                { key: 'settings', title: t('server.settings'), content: () => <Settings name={name} /> },
              ]}
            />
          </>
        )}
      </Loaded>
    </Screen>
  )
}

interface ToggleProps {
  readonly name: string
  readonly state: ServerState | undefined
  readonly onDone: () => void
}

/** Stops a server by disabling it in the configuration, or enables it again. */
function Toggle({ name, state, onDone }: ToggleProps) {
  const mayChange = useMay('admin')
  const isDisabled = state === 'disabled'
  const toggle = (): void =>
    void act(
      () =>
        send('POST', `/upstreams/${encodeURIComponent(name)}/settings`, {
          changes: [isDisabled ? { path: ['disabled'] } : { path: ['disabled'], value: true }],
        }),
      t(isDisabled ? 'server.enabled' : 'server.disabled', { server: name }),
    ).then(onDone)
  if (mayChange !== true || state === undefined) return null
  return (
    <button type="button" onClick={toggle} title={unfold(isDisabled ? 'enable' : 'disable', name)}>
      {t(isDisabled ? 'server.enable' : 'server.disable')}
    </button>
  )
}

function StateLine({ server: { state, forMs } }: { readonly server: Server }) {
  return (
    <div class="row">
      <State state={state} />
      <span class="muted">{t('server.since', { time: formatDuration(forMs) })}</span>
    </div>
  )
}

function Summary({ server }: { readonly server: Server }) {
  const { name, state, held, calls } = server
  const maySignIn = useMay('admin')
  const next = nextStep(server)
  const tone = toneOf(state)
  const facts = [
    [t('server.identity'), server.server],
    [t('server.protocol'), server.protocolVersion],
    [t('server.address'), server.address],
    [t('server.process'), server.pid?.toString()],
    [t('server.endpoint'), server.url],
    [t('server.running'), `${calls.running} / ${calls.waiting}`],
  ] as const
  const toggle = unfold(state === 'disabled' ? 'enable' : 'disable', name)
  const commands = [...new Set([next, ...(state === 'disabled' ? [] : [unfold('restart', name)]), toggle])]
  return (
    <Card>
      <div class="stack">
        {state !== 'ready' && (
          <p class={tone === 'fail' || tone === 'warn' ? `callout ${tone}` : 'callout'}>{reasonOf(server)}</p>
        )}
        {state === 'needs_login' && maySignIn === true && <ServerSignIn name={name} />}
        {held > 0 && (
          <p class="callout warn">
            <a href={href(['review'])}>{t('concern.held', { count: held })}</a>
          </p>
        )}
        <dl class="across">
          {facts.map(([label, value]) =>
            value === undefined ? null : (
              <div key={label}>
                <dt>{label}</dt>
                <dd class="break">{value}</dd>
              </div>
            ),
          )}
        </dl>
        <div class="row">
          {commands.map((command) => (command === undefined ? null : <Command key={command} text={command} />))}
        </div>
      </div>
    </Card>
  )
}

function ToolsOf({ name }: { readonly name: string }) {
  const tools = useQuery<readonly Tool[]>(`/tools?upstream=${encodeURIComponent(name)}`, ['change'])
  return (
    <Loaded {...tools}>
      {(rows) => (
        <Table
          label={t('nav.tools')}
          columns={toolColumns}
          rows={rows}
          rowKey={(tool) => tool.name}
          empty={t('server.no-tools')}
        />
      )}
    </Loaded>
  )
}

function Lines({ name, source }: { readonly name: string; readonly source: 'stderr' | 'logs' }) {
  const lines = useQuery<readonly LogLine[]>(`/${source}?limit=200&upstream=${encodeURIComponent(name)}`, ['stderr', 'log'])
  return (
    <Loaded {...lines}>
      {(entries) =>
        entries.length === 0 ? (
          <Empty title={t('server.no-output')} />
        ) : (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
          <pre class="log" tabIndex={0} ref={toEnd}>
            {entries.map(({ at, level, message, line }, index) => (
              <span key={`${index}`} class={level}>
                <span class="at">{formatTime(at)}</span> {level === undefined ? '' : `${level.padEnd(5)} `}
                {message ?? line ?? ''}
                {'\n'}
              </span>
            ))}
          </pre>
        )
      }
    </Loaded>
  )
}

/** The last lines say why a server failed. */
function toEnd(element: HTMLElement | null): void {
  element?.scrollTo({ top: element.scrollHeight })
}

function Notes({ server: { notes, findings } }: { readonly server: Server }) {
  const rows = [
    ...notes.map(({ tool, message }) => ({ tool, text: message })),
    ...findings.map(({ tool = '', path, description, advice }) => ({ tool, text: `${path} ${description}. ${advice}` })),
  ]
  if (rows.length === 0) return <Empty title={t('server.no-notes')} />
  return (
    <ul class="timeline small">
      {rows.map(({ tool, text }, index) => (
        <li key={`${index}`} class="break">
          <strong>{tool}</strong> {text}
        </li>
      ))}
    </ul>
  )
}
