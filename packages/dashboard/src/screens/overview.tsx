import type { ComponentChildren } from 'preact'
import { unfold } from '../commands/command.ts'
import { Card, Empty, Loaded, Screen, Stat } from '../components/basics.tsx'
import { Command } from '../components/command.tsx'
import type { Call, ListUsageRow, Status, UsageReport } from '../data/contract.ts'
import { useQuery } from '../data/hooks.ts'
import { formatDuration, formatNumber, formatPercent, t } from '../locales/translate.ts'
import { href } from '../router/route.ts'
import { CallsChart } from './calls-chart.tsx'
import { isFailure } from './outcome.tsx'
import { SentTokensTable, savedOf, sumOf } from './sent-tokens.tsx'
import { FirstServer } from './servers.tsx'
import { nextStep, reasonOf, toneOf } from './state.tsx'

interface Concern {
  readonly key: string
  readonly tone: 'fail' | 'warn'
  readonly title: string
  readonly text: string
  readonly command?: string | undefined
  readonly link: string
  readonly action: string
}

/** Everything that needs a person, failures first. */
function concernsOf(status: Status): readonly Concern[] {
  const concerns: Concern[] = []
  for (const { name, problems } of status.notStarted)
    concerns.push({
      key: `config ${name}`,
      tone: 'fail',
      title: t('concern.not-started', { server: name }),
      text: problems.map(({ message }) => message).join(' '),
      link: href(['servers', name]),
      action: t('concern.show'),
    })
  for (const server of status.upstreams) {
    const tone = toneOf(server.state)
    if (tone !== 'fail' && tone !== 'warn') continue
    concerns.push({
      key: `server ${server.name}`,
      tone,
      title: t('concern.server', { server: server.name, state: t(`state.${server.state}`).toLowerCase() }),
      text: reasonOf(server),
      command: nextStep(server),
      link: href(['servers', server.name]),
      action: t('concern.show'),
    })
  }
  for (const { message } of status.problems)
    concerns.push({
      key: `problem ${message}`,
      tone: 'fail',
      title: t('concern.config'),
      text: message,
      command: unfold('reload'),
      link: href(['review']),
      action: t('concern.show'),
    })
  for (const { part, problem } of status.degraded)
    concerns.push({ key: part, tone: 'fail', title: part, text: problem, link: href(['activity']), action: t('concern.show') })
  const held = status.upstreams.filter((server) => server.held > 0)
  const count = held.reduce((sum, server) => sum + server.held, 0)
  if (count > 0)
    concerns.push({
      key: 'held',
      tone: 'warn',
      title: t('concern.held', { count }),
      text: t('concern.held.text', { servers: held.map(({ name }) => name).join(', ') }),
      command: unfold('review'),
      link: href(['review']),
      action: t('concern.review'),
    })
  if (status.pendingCalls > 0)
    concerns.push({
      key: 'calls',
      tone: 'warn',
      title: t('concern.calls', { count: status.pendingCalls }),
      text: t('concern.calls.text'),
      command: unfold('approvals'),
      link: href(['review']),
      action: t('concern.review'),
    })
  if (status.edits.length > 0)
    concerns.push({
      key: 'edits',
      tone: 'warn',
      title: t('concern.edits', { count: status.edits.length }),
      text: status.edits.join(', '),
      command: unfold('review'),
      link: href(['review']),
      action: t('concern.review'),
    })
  return concerns.toSorted((a, b) => Number(b.tone === 'fail') - Number(a.tone === 'fail'))
}

export function Overview() {
  const status = useQuery<Status>('/status', ['state', 'trust', 'config', 'change', 'call'])
  const calls = useQuery<readonly Call[]>('/calls?limit=1000', ['call'])
  const usage = useQuery<UsageReport>('/usage', ['call'])
  const { uptimeMs = 0, config = '' } = status.data ?? {}
  return (
    <Screen
      title={t('nav.overview')}
      actions={<Command text={unfold('status')} />}
      lead={status.data !== undefined && t('overview.lead', { time: formatDuration(uptimeMs), config })}
    >
      <Loaded {...status}>
        {(data) => (
          <>
            {data.upstreams.length + data.notStarted.length === 0 ? (
              <Card>
                <Empty title={t('servers.none')}>
                  <FirstServer />
                </Empty>
              </Card>
            ) : (
              <Attention concerns={concernsOf(data)} />
            )}
            <Numbers status={data} calls={calls.data ?? []} lists={usage.data?.lists ?? []} />
            <div class="grid wide">
              <Tokens status={data} lists={usage.data?.lists ?? []} />
              <Card title={t('overview.calls')}>
                <CallsChart calls={calls.data ?? []} />
              </Card>
            </div>
          </>
        )}
      </Loaded>
    </Screen>
  )
}

const maxConcerns = 8

function Attention({ concerns }: { readonly concerns: readonly Concern[] }) {
  if (concerns.length === 0)
    return (
      <div class="card all-well">
        <span class="dot ok" aria-hidden="true" />
        <div>
          <strong>{t('overview.well')}</strong>
          <div class="muted">{t('overview.well.text')}</div>
        </div>
      </div>
    )
  return (
    <section aria-label={t('overview.attention')} class="card flush">
      <h2 class="attention-head">{t('overview.attention.count', { count: concerns.length })}</h2>
      <ul class="attention">
        {concerns.slice(0, maxConcerns).map(({ key, tone, title, text, command, link, action }) => (
          <li key={key}>
            <span class={`dot ${tone}`} aria-hidden="true" />
            <div class="stack tight">
              <div>
                <span class="title break">{title}</span>
                <span class="visually-hidden"> ({t(tone === 'fail' ? 'concern.failure' : 'concern.decision')})</span>
                <div class="muted break">{text}</div>
              </div>
              {command !== undefined && <Command text={command} />}
            </div>
            <a class="button" href={link}>
              {action}
              <span class="visually-hidden">: {title}</span>
            </a>
          </li>
        ))}
      </ul>
      {concerns.length > maxConcerns && (
        <p class="padded">
          <a href={href(['servers'])}>{t('overview.more', { count: concerns.length - maxConcerns })}</a>
        </p>
      )}
    </section>
  )
}

interface NumbersProps {
  readonly status: Status
  readonly calls: readonly Call[]
  readonly lists: readonly ListUsageRow[]
}

function Numbers({ status, calls, lists }: NumbersProps) {
  const ready = status.upstreams.filter(({ state }) => state === 'ready' || state === 'idle').length
  // A server that somebody disabled is not missing.
  const wanted = status.upstreams.filter(({ state }) => state !== 'disabled').length + status.notStarted.length
  const failures = calls.filter(isFailure).length
  const linked = (path: string, text: ComponentChildren) => <a href={href([path])}>{text}</a>
  const { sentTokens, allTokens } = sumOf(lists)
  return (
    <div class="card stats">
      <Stat
        label={t('overview.servers')}
        value={t('overview.servers.value', { ready, all: wanted })}
        note={linked('servers', t('overview.servers.note'))}
      />
      <Stat
        label={t('overview.tools')}
        value={formatNumber(status.savings.tools)}
        note={t('overview.tools.note', { tokens: status.savings.allTokens })}
      />
      <Stat label={t('overview.clients')} value={status.clients.length} note={linked('clients', t('overview.clients.note'))} />
      <Stat
        label={t('overview.recent')}
        value={formatNumber(calls.length)}
        note={linked('activity', failures === 0 ? t('overview.recent.none') : t('overview.recent.failed', { count: failures }))}
      />
      <Stat
        label={t('overview.saved')}
        value={allTokens === 0 ? '–' : formatNumber(allTokens - sentTokens)}
        note={linked(
          'usage',
          allTokens === 0
            ? t('sent.none')
            : t('overview.saved.note', { share: formatPercent(savedOf({ sentTokens, allTokens })), tokens: allTokens }),
        )}
      />
    </div>
  )
}

/** For whom how many tokens were saved; before the first list, what the next client would be sent. */
function Tokens({ status: { savings }, lists }: { readonly status: Status; readonly lists: readonly ListUsageRow[] }) {
  const { allTokens, listedTokens, tools, listed } = savings
  const saved = Math.max(0, allTokens - listedTokens)
  return (
    <Card title={t('overview.tokens')} isFlush={lists.length > 0}>
      {lists.length > 0 ? (
        <SentTokensTable isShort rows={lists.toSorted((a, b) => b.allTokens - b.sentTokens - (a.allTokens - a.sentTokens))} />
      ) : (
        <div class="stack">
          <p>
            {t('overview.tokens.text', { listed, tools, listedTokens, allTokens })}{' '}
            {saved > 0 && <strong>{t('overview.tokens.saved', { share: formatPercent(saved / allTokens) })}</strong>}
          </p>
          <p class="muted">{t('sent.none.hint')}</p>
        </div>
      )}
    </Card>
  )
}
