import { useMemo, useState } from 'preact/hooks'
import { unfold } from '../commands/command.ts'
import { Badge, Card, Loaded, Screen, Stat, type Tone } from '../components/basics.tsx'
import { Command } from '../components/command.tsx'
import { Filter, matches, Select } from '../components/filter.tsx'
import { type Column, Table } from '../components/table.tsx'
import { Tabs } from '../components/tabs.tsx'
import type { Client, ClientView, ConnectableHost, Status } from '../data/contract.ts'
import { useQuery } from '../data/hooks.ts'
import { formatDuration, formatNumber, formatPercent, type MessageKey, t } from '../locales/translate.ts'
import { href } from '../router/route.ts'
import { ActivationEffect, SearchEffect } from './client-parts/effects.tsx'
import { nobody, queryOf, searchOf, type Who, whoIn } from './client-parts/who.ts'
import { Why } from './client-parts/why.tsx'

/** What one client is listed, and why. Client and tool are in the address, so that both can be linked. */
export function Clients({ query }: { readonly query: URLSearchParams }) {
  const who = whoIn(query)
  const tool = query.get('tool') ?? ''
  const clients = useQuery<readonly Client[]>('/clients', ['call'])
  const hosts = useQuery<readonly ConnectableHost[]>('/hosts')
  const view = useQuery<ClientView>(`/view?${searchOf(who)}`, ['change', 'trust', 'config', 'state'])
  const choose = (next: Who, about = ''): void => {
    // A form that is filled in does not make an entry in the history for each letter.
    location.replace(href(['clients'], { ...queryOf(next), tool: about }))
  }
  return (
    <Screen title={t('nav.clients')} lead={t('clients.lead')}>
      <Loaded {...clients}>
        {(connected) => <Choice clients={connected} hosts={hosts.data ?? []} who={who} onChoose={choose} />}
      </Loaded>
      <Loaded {...view}>
        {(data) => (
          <>
            <div class="row between">
              <h2>{t('clients.as', { client: nameOfWho(who, hosts.data ?? []) })}</h2>
              <Command text={previewCommand(who)} />
            </div>
            <Numbers view={data} />
            <Tabs
              label={t('nav.clients')}
              tabs={[
                {
                  key: 'tools',
                  title: t('nav.tools'),
                  content: () => <Tools view={data} onWhy={(name) => choose(who, name)} />,
                },
                { key: 'instructions', title: t('clients.instructions'), content: () => <Instructions view={data} /> },
                { key: 'activation', title: t('clients.activate'), content: () => <ActivationEffect who={who} view={data} /> },
                { key: 'search', title: t('clients.search'), content: () => <SearchEffect who={who} /> },
              ]}
            />
          </>
        )}
      </Loaded>
      {tool !== '' && <Why who={who} tool={tool} onClose={() => choose(who)} />}
    </Screen>
  )
}

const previewCommand = ({ host, era }: Who): string =>
  unfold('preview', ...(host === '' ? [] : ['--host', host]), '--era', era === 'stateless' ? '2026-07-28' : 'session')

interface ChoiceProps {
  readonly clients: readonly Client[]
  readonly hosts: readonly ConnectableHost[]
  readonly who: Who
  readonly onChoose: (who: Who) => void
}

const titlesOf = (hosts: readonly ConnectableHost[]): ReadonlyMap<string, string> =>
  new Map(hosts.flatMap(({ host, title }) => (host === undefined ? [] : [[host, title] as const])))

function nameOfWho({ name, host, token, profile, server }: Who, hosts: readonly ConnectableHost[]): string {
  const parts = [titlesOf(hosts).get(host) ?? name, token, profile, server].filter((part) => part !== '')
  return parts.length === 0 ? t('clients.anyone') : parts.join(', ')
}

const whoIs = ({ name = '', era, token = '', profile = '', server = '', host = '' }: Client): Who => ({
  ...nobody,
  name,
  era,
  token,
  profile,
  server,
  host,
})

const isSame = (one: Who, other: Who): boolean => one.name === other.name && searchOf(one) === searchOf(other)

/** A connected client, or one that is described. */
function Choice({ clients, hosts, who, onChoose }: ChoiceProps) {
  const [isDescribed, setDescribed] = useState(false)
  const known = titlesOf(hosts)
  const isOther = who.name === '' && searchOf(who) !== searchOf(nobody)
  const columns: readonly Column<Client & { readonly index: number }>[] = [
    {
      key: 'name',
      title: t('clients.name'),
      cell: (client) => (
        <button type="button" class="link" aria-pressed={isSame(whoIs(client), who)} onClick={() => onChoose(whoIs(client))}>
          {client.name ?? t('clients.unnamed')} {client.version}
        </button>
      ),
    },
    { key: 'host', title: t('clients.host'), cell: ({ host = '' }) => known.get(host) ?? '–', hideSmall: true },
    { key: 'era', title: t('clients.era'), cell: ({ era }) => era, hideSmall: true },
    { key: 'token', title: t('clients.token'), cell: ({ token }) => token ?? '–', hideSmall: true },
    { key: 'profile', title: t('clients.profile'), cell: ({ profile, server }) => profile ?? server ?? '–', hideSmall: true },
    { key: 'idle', title: t('clients.idle'), cell: ({ idleMs }) => formatDuration(idleMs), isNumber: true },
  ]
  return (
    <Card isFlush>
      <Table
        label={t('clients.connected')}
        isShort
        rows={clients.map((client, index) => ({ ...client, index }))}
        rowKey={({ index }) => index}
        empty={t('clients.empty')}
        emptyHint={<a href={href(['connect'])}>{t('clients.connect')}</a>}
        columns={columns}
      />
      <details class="item" open={isDescribed || isOther} onToggle={(event) => setDescribed(event.currentTarget.open)}>
        <summary>{t('clients.other')}</summary>
        <Description who={who} hosts={[...known]} onChoose={(next) => onChoose({ ...next, name: '' })} />
      </details>
    </Card>
  )
}

interface DescriptionProps {
  readonly who: Who
  readonly hosts: readonly (readonly [id: string, title: string])[]
  readonly onChoose: (who: Who) => void
}

function Description({ who, hosts, onChoose }: DescriptionProps) {
  const servers = useQuery<Status>('/status')
  return (
    <div class="filters">
      <Select
        label={t('clients.host')}
        value={who.host}
        onChange={(host) => onChoose({ ...who, host })}
        options={[['', t('clients.host.any')], ...hosts]}
      />
      <Select
        label={t('clients.era')}
        value={who.era}
        onChange={(era) => onChoose({ ...who, era })}
        options={[
          ['session', t('clients.session')],
          ['stateless', t('clients.stateless')],
        ]}
      />
      <Filter label={t('clients.token')} value={who.token} onChange={(token) => onChoose({ ...who, token })} />
      <Filter label={t('clients.profile')} value={who.profile} onChange={(profile) => onChoose({ ...who, profile })} />
      <Select
        label={t('server')}
        value={who.server}
        onChange={(server) => onChoose({ ...who, server })}
        options={[['', t('all')], ...(servers.data?.upstreams ?? []).map(({ name }) => [name, name] as const)]}
      />
      <Filter label={t('clients.address')} value={who.query} onChange={(query) => onChoose({ ...who, query })} />
    </div>
  )
}

function Numbers({
  view: { listed, unlisted, excluded, listedTokens, allTokens, exposure, reason },
}: {
  readonly view: ClientView
}) {
  const usable = listed.length + unlisted.length
  return (
    <div class="card stats">
      <Stat
        label={t('clients.listed')}
        value={formatNumber(listedTokens)}
        note={t('clients.listed.note', { count: listed.length })}
      />
      <Stat label={t('clients.all')} value={formatNumber(allTokens)} note={t('clients.all.note', { count: usable })} />
      <Stat
        label={t('clients.saved')}
        value={allTokens === 0 ? '–' : formatPercent(Math.max(0, 1 - listedTokens / allTokens))}
        note={t('clients.exposure', { exposure, reason })}
      />
      <Stat label={t('clients.excluded')} value={formatNumber(excluded.length)} note={t('clients.excluded.note')} />
    </div>
  )
}

function Instructions({ view: { instructions, instructionTokens } }: { readonly view: ClientView }) {
  if (instructions === undefined) return <p class="padded muted">{t('clients.instructions.none')}</p>
  return (
    <div class="stack padded">
      <p class="muted">{t('tools.cost', { count: instructionTokens })}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard */}
      <pre tabIndex={0}>{instructions}</pre>
    </div>
  )
}

type Visibility = 'listed' | 'unlisted' | 'excluded'

interface Row {
  readonly name: string
  readonly upstream: string
  readonly tokens?: number
  readonly visibility: Visibility
  /** Why it is excluded. */
  readonly reason?: string
}

const nameOf = ({ definition }: ClientView['listed'][number]): string => ('name' in definition ? String(definition.name) : '')

const rowsOf = ({ listed, unlisted, excluded }: ClientView): readonly Row[] => [
  ...listed.map((row): Row => ({ name: nameOf(row), tokens: row.tokens, upstream: row.upstream ?? '', visibility: 'listed' })),
  ...unlisted.map(({ name, tokens, upstream = '' }): Row => ({ name, tokens, upstream, visibility: 'unlisted' })),
  ...excluded.map(({ name, upstream, reason }): Row => ({ name, upstream, reason, visibility: 'excluded' })),
]

const visibilities: { readonly [V in Visibility]: { readonly title: MessageKey; readonly tone: Tone } } = {
  listed: { title: 'clients.is-listed', tone: 'ok' },
  unlisted: { title: 'clients.not-listed', tone: 'neutral' },
  excluded: { title: 'clients.is-excluded', tone: 'neutral' },
}

/** Tools of all servers, whether the client sees them or not. */
function Tools({ view, onWhy }: { readonly view: ClientView; readonly onWhy: (tool: string) => void }) {
  const [text, setText] = useState('')
  const [visibility, setVisibility] = useState('')
  const all = useMemo(() => rowsOf(view), [view])
  const rows = useMemo(
    () => all.filter((row) => matches(text, row.name, row.upstream) && (visibility === '' || row.visibility === visibility)),
    [all, text, visibility],
  )
  const columns: readonly Column<Row>[] = [
    {
      key: 'name',
      title: t('tools.name'),
      cell: ({ name, upstream, visibility: seen }) =>
        upstream === '' || seen === 'excluded' ? name : <a href={href(['tools', name])}>{name}</a>,
      sort: ({ name }) => name,
    },
    { key: 'server', title: t('server'), cell: ({ upstream }) => upstream, sort: ({ upstream }) => upstream, hideSmall: true },
    {
      key: 'listed',
      title: t('clients.visibility'),
      cell: ({ visibility: seen, reason }) => (
        <span class="row">
          <Badge isDotted tone={visibilities[seen].tone}>
            {t(visibilities[seen].title)}
          </Badge>
          {reason !== undefined && <span class="muted small hide-small">{reason}</span>}
        </span>
      ),
      sort: ({ visibility: seen }) => seen,
    },
    {
      key: 'tokens',
      title: t('tokens'),
      cell: ({ tokens }) => (tokens === undefined ? '–' : formatNumber(tokens)),
      sort: ({ tokens = 0 }) => tokens,
      isNumber: true,
    },
    {
      key: 'why',
      title: t('clients.reason'),
      cell: ({ name }) => (
        <button type="button" class="tiny" onClick={() => onWhy(name)} aria-label={t('clients.why-tool', { tool: name })}>
          {t('clients.why-short')}
        </button>
      ),
    },
  ]
  return (
    <>
      <div class="filters toolbar">
        <Filter label={t('filter')} value={text} onChange={setText} />
        <Select
          label={t('clients.visibility')}
          value={visibility}
          onChange={setVisibility}
          options={[['', t('all')], ...Object.entries(visibilities).map(([key, { title }]) => [key, t(title)] as const)]}
        />
        <span class="muted" role="status">
          {t('clients.count', { count: rows.length })}
        </span>
      </div>
      <Table
        label={t('clients.tools')}
        rows={rows}
        rowKey={({ name, upstream, visibility: seen }) => `${seen} ${upstream} ${name}`}
        empty={t('tools.empty')}
        columns={columns}
      />
    </>
  )
}
