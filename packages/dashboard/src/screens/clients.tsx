import { useState } from 'preact/hooks'
import { unfold } from '../commands/command.ts'
import { Badge, Card, Loaded, Screen, Stat } from '../components/basics.tsx'
import { Command } from '../components/command.tsx'
import { Filter, Select } from '../components/filter.tsx'
import { Table } from '../components/table.tsx'
import type { Client, ClientView, ConnectableHost, Status, Visibility } from '../data/contract.ts'
import { useQuery } from '../data/hooks.ts'
import { formatDuration, formatNumber, formatPercent, t } from '../locales/translate.ts'
import { href, parseRoute } from '../router/route.ts'
import { SearchReport } from './tool/search-report.tsx'

interface Who {
  readonly era: string
  readonly token: string
  readonly profile: string
  readonly server: string
  readonly host: string
  /** Query of its address, such as `groups=a,b`. */
  readonly query: string
}

const nobody: Who = { era: 'session', token: '', profile: '', server: '', host: '', query: '' }

/** The query of the client's address: its own, and the host that it names. */
const addressQuery = ({ host, query }: Who): string =>
  [host === '' ? '' : `host=${encodeURIComponent(host)}`, query.replace(/^\?/u, '')].filter((part) => part !== '').join('&')

function searchOf({ host, query, ...who }: Who, more: { readonly [key: string]: string } = {}): string {
  const all = { ...who, query: addressQuery({ host, query, ...who }), ...more }
  return new URLSearchParams(Object.entries(all).filter(([, value]) => value !== '')).toString()
}

/** The list of one client, and why it is this one. */
export function Clients() {
  const clients = useQuery<readonly Client[]>('/clients', ['call'])
  const [who, setWho] = useState<Who>(nobody)
  const [tool, setTool] = useState(() => parseRoute(location.hash).query.get('tool') ?? '')
  const hosts = useQuery<readonly ConnectableHost[]>('/hosts')
  const servers = useQuery<Status>('/status')
  const view = useQuery<ClientView>(`/view?${searchOf(who)}`, ['change', 'trust', 'config', 'state'])
  const known = [
    ...new Map((hosts.data ?? []).flatMap(({ host, title }) => (host === undefined ? [] : [[host, title] as const]))),
  ]
  const choose = ({ era, token = '', profile = '', server = '' }: Client): void =>
    setWho({ ...nobody, era, token, profile, server })
  return (
    <Screen title={t('nav.clients')} lead={t('clients.lead')}>
      <Card isFlush>
        <Table
          label={t('clients.connected')}
          isShort
          rows={(clients.data ?? []).map((client, index) => ({ ...client, index }))}
          rowKey={({ index }) => index}
          empty={t('clients.empty')}
          emptyHint={<a href={href(['connect'])}>{t('clients.connect')}</a>}
          columns={[
            {
              key: 'name',
              title: t('clients.name'),
              cell: (client) => (
                <button type="button" class="plain" onClick={() => choose(client)}>
                  {client.name ?? t('clients.unnamed')} {client.version}
                </button>
              ),
            },
            { key: 'era', title: t('clients.era'), cell: ({ era }) => era, hideSmall: true },
            { key: 'token', title: t('clients.token'), cell: ({ token }) => token ?? '–' },
            { key: 'profile', title: t('clients.profile'), cell: ({ profile, server }) => profile ?? server ?? '–' },
            { key: 'idle', title: t('clients.idle'), cell: ({ idleMs }) => formatDuration(idleMs), isNumber: true },
          ]}
        />
      </Card>
      <div class="filters">
        <Select
          label={t('clients.era')}
          value={who.era}
          onChange={(era) => setWho({ ...who, era })}
          options={[
            ['session', t('clients.session')],
            ['stateless', t('clients.stateless')],
          ]}
        />
        <Filter label={t('clients.token')} value={who.token} onChange={(token) => setWho({ ...who, token })} />
        <Filter label={t('clients.profile')} value={who.profile} onChange={(profile) => setWho({ ...who, profile })} />
        <Select
          label={t('server')}
          value={who.server}
          onChange={(server) => setWho({ ...who, server })}
          options={[['', t('all')], ...(servers.data?.upstreams ?? []).map(({ name }) => [name, name] as const)]}
        />
        <Select
          label={t('clients.host')}
          value={who.host}
          onChange={(host) => setWho({ ...who, host })}
          options={[['', t('clients.host.any')], ...known]}
        />
        <Filter label={t('clients.address')} value={who.query} onChange={(query) => setWho({ ...who, query })} />
        <Filter label={t('clients.why')} value={tool} onChange={setTool} />
      </div>
      {tool !== '' && <Why who={who} tool={tool} />}
      <Loaded {...view}>
        {(data) => (
          <>
            <Effects who={who} view={data} />
            <View view={data} onWhy={setTool} />
          </>
        )}
      </Loaded>
    </Screen>
  )
}

/** The same question on the command line. */
function whyCommand(who: Who, tool: string): string {
  const { token, profile, server, era } = who
  const flags = Object.entries({ client: token, profile, server, era: era === 'session' ? '' : era, view: addressQuery(who) })
  return unfold('why', tool, ...flags.flatMap(([flag, value]) => (value === '' ? [] : [`--${flag}`, value])))
}

function Why({ who, tool: asked }: { readonly who: Who; readonly tool: string }) {
  const why = useQuery<Visibility>(`/why?${searchOf(who, { tool: asked })}`)
  return (
    <Loaded {...why}>
      {({ tool, isListed, isUsable, reason, next, checks }) => (
        <Card title={t(isListed ? 'why.listed' : isUsable ? 'why.usable' : 'why.hidden', { tool })}>
          <div class="stack">
            <p class="break">{reason}</p>
            {next !== undefined && <Command text={next} label={t('server.next')} />}
            <ul class="steps">
              {checks.map(({ check, isPassed, detail }) => (
                <li key={check}>
                  <span aria-hidden="true">{isPassed ? '✓' : '–'}</span>
                  <span class="break">
                    <strong>{check}</strong> <span class="visually-hidden">{t(isPassed ? 'why.passed' : 'why.stopped')}</span>{' '}
                    {detail}
                  </span>
                </li>
              ))}
            </ul>
            <Command text={whyCommand(who, asked)} />
          </div>
        </Card>
      )}
    </Loaded>
  )
}

/** What an activation and a search would change for this client. */
function Effects({ who, view }: { readonly who: Who; readonly view: ClientView }) {
  const [group, setGroup] = useState('')
  const [text, setText] = useState('')
  const [asked, setAsked] = useState('')
  const activated = useQuery<ClientView>(group === '' ? undefined : `/view?${searchOf(who, { activate: group })}`)
  const searched = useQuery<ClientView>(asked === '' ? undefined : `/view?${searchOf(who, { search: asked })}`)
  return (
    <>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault()
          setAsked(text)
        }}
      >
        <Select
          label={t('clients.activate')}
          value={group}
          onChange={setGroup}
          options={[['', t('clients.activate.nothing')], ...view.groups.map((each) => [each, each] as const)]}
        />
        <Filter label={t('clients.search')} value={text} onChange={setText} />
        <button type="submit" disabled={text.trim() === ''}>
          {t('clients.search.submit')}
        </button>
      </form>
      {activated.data !== undefined && <Activation group={group} before={view} after={activated.data} />}
      {asked !== '' && (
        <Loaded {...searched}>
          {({ search }) => (search === undefined ? null : <SearchReport query={asked} report={search} />)}
        </Loaded>
      )}
    </>
  )
}

interface ActivationProps {
  readonly group: string
  readonly before: ClientView
  readonly after: ClientView
}

function Activation({ group, before, after }: ActivationProps) {
  const known = new Set(before.listed.map(nameOf))
  const added = after.listed.map(nameOf).filter((name) => !known.has(name))
  if (!after.canActivate) return <p role="status">{t('clients.activate.fixed')}</p>
  return (
    <Card title={t('clients.activate.title', { group })}>
      <p role="status">
        {added.length === 0
          ? t('clients.activate.none')
          : t('clients.activate.effect', { count: added.length, tokens: after.listedTokens - before.listedTokens })}
      </p>
      <p class="muted small break">{added.join(', ')}</p>
    </Card>
  )
}

const nameOf = ({ definition }: ClientView['listed'][number]): string => ('name' in definition ? String(definition.name) : '')

function View({ view, onWhy }: { readonly view: ClientView; readonly onWhy: (tool: string) => void }) {
  const { listed, unlisted, listedTokens, allTokens } = view
  const rows = [
    ...listed.map((row) => ({ name: nameOf(row), tokens: row.tokens, upstream: row.upstream ?? '', isListed: true })),
    ...unlisted.map(({ name, tokens, upstream = '' }) => ({ name, tokens, upstream, isListed: false })),
  ]
  return (
    <>
      <div class="grid">
        <Stat
          label={t('clients.listed')}
          value={formatNumber(listedTokens)}
          note={t('clients.listed.note', { count: listed.length })}
        />
        <Stat label={t('clients.all')} value={formatNumber(allTokens)} note={t('clients.all.note', { count: rows.length })} />
        <Stat
          label={t('clients.saved')}
          value={allTokens === 0 ? '–' : formatPercent(Math.max(0, 1 - listedTokens / allTokens))}
          note={`${view.exposure}: ${view.reason}`}
        />
      </div>
      {view.instructions !== undefined && (
        <Card title={t('clients.instructions', { count: view.instructionTokens })}>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard */}
          <pre tabIndex={0}>{view.instructions}</pre>
        </Card>
      )}
      <Card isFlush>
        <Table
          label={t('clients.tools')}
          rows={rows}
          rowKey={({ name, isListed }) => `${isListed} ${name}`}
          empty={t('tools.empty')}
          columns={[
            {
              key: 'name',
              title: t('tools.name'),
              cell: ({ name, upstream }) => (upstream === '' ? name : <a href={href(['tools', name])}>{name}</a>),
              sort: ({ name }) => name,
            },
            { key: 'server', title: t('server'), cell: ({ upstream }) => upstream, hideSmall: true },
            {
              key: 'listed',
              title: t('clients.visibility'),
              cell: ({ isListed }) => (
                <Badge tone={isListed ? 'ok' : 'neutral'}>{t(isListed ? 'clients.is-listed' : 'clients.not-listed')}</Badge>
              ),
            },
            {
              key: 'tokens',
              title: t('tokens'),
              cell: ({ tokens }) => formatNumber(tokens),
              sort: ({ tokens }) => tokens,
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
          ]}
        />
      </Card>
    </>
  )
}
