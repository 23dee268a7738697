import { useState } from 'preact/hooks'
import { unfold } from '../commands/command.ts'
import { Badge, Card, Empty, Loaded, Screen } from '../components/basics.tsx'
import { Command } from '../components/command.tsx'
import { Filter, matches } from '../components/filter.tsx'
import type { ConnectableHost, Status } from '../data/contract.ts'
import { useQuery } from '../data/hooks.ts'
import { t } from '../locales/translate.ts'

export function Connect() {
  const status = useQuery<Status>('/status')
  const hosts = useQuery<readonly ConnectableHost[]>('/hosts', ['call', 'config'])
  const [text, setText] = useState('')
  return (
    <Screen title={t('nav.connect')} lead={t('connect.lead')}>
      <Loaded {...status}>
        {({ url }) => (
          <div class="row">
            <span class="muted">{t('connect.address')}</span>
            <Command text={url} label={t('connect.address')} />
          </div>
        )}
      </Loaded>
      <div class="filters">
        <Filter label={t('filter')} value={text} onChange={setText} />
      </div>
      <Loaded {...hosts}>{(all) => <Hosts hosts={all.filter(({ name, title }) => matches(text, name, title))} />}</Loaded>
    </Screen>
  )
}

function Hosts({ hosts }: { readonly hosts: readonly ConnectableHost[] }) {
  if (hosts.length === 0) return <Empty title={t('connect.no-match')} />
  return (
    <div class="grid wide">
      {hosts.map((host) => (
        <Host key={host.name} host={host} />
      ))}
    </div>
  )
}

function Host({ host: { name, title, entry, next, lists } }: { readonly host: ConnectableHost }) {
  return (
    <Card title={title}>
      <div class="stack">
        <div class="row">
          {lists === undefined ? (
            <span class="muted small">{t('connect.unrecognised')}</span>
          ) : (
            <Badge isDotted tone={lists > 0 ? 'ok' : 'neutral'}>
              {t(lists > 0 ? 'connect.is-connected' : 'connect.not-connected')}
            </Badge>
          )}
          {lists !== undefined && lists > 0 && <span class="muted small">{t('connect.lists', { count: lists })}</span>}
        </div>
        <Command text={unfold('connect', name)} />
        {entry === undefined ? (
          <p class="muted">{t('connect.command-only')}</p>
        ) : (
          <details>
            <summary>{t('connect.entry', { title })}</summary>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll, which needs the keyboard too */}
            <pre tabIndex={0}>{entry}</pre>
          </details>
        )}
        <p class="muted small">{next}</p>
      </div>
    </Card>
  )
}
