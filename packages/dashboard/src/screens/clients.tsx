import { useState } from 'preact/hooks'
import { unfold } from '../commands/command.ts'
import { Badge, Card, Loaded, Screen, Stat } from '../components/basics.tsx'
import { Command } from '../components/command.tsx'
import { Filter, Select } from '../components/filter.tsx'
import { Table } from '../components/table.tsx'
import type { Client, ClientView, Visibility } from '../data/contract.ts'
import { useQuery } from '../data/hooks.ts'
import { formatDuration, formatNumber, formatPercent, t } from '../locales/translate.ts'
import { href, parseRoute } from '../router/route.ts'

interface Who {
  readonly era: string
  readonly token: string
  readonly profile: string
  readonly server: string
}

const searchOf = (who: Who, more: { readonly [key: string]: string } = {}): string =>
  new URLSearchParams(Object.entries({ ...who, ...more }).filter(([, value]) => value !== '')).toString()

/** What one client is listed, and why. */
export function Clients() {
  const clients = useQuery<readonly Client[]>('/clients', ['call'])
  const [who, setWho] = useState<Who>({ era: 'session', token: '', profile: '', server: '' })
  const [tool, setTool] = useState(() => parseRoute(location.hash).query.get('tool') ?? '')
  const view = useQuery<ClientView>(`/view?${searchOf(who)}`, ['change', 'trust', 'config', 'state'])
  const choose = ({ era, token = '', profile = '', server = '' }: Client): void => setWho({ era, token, profile, server })
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
        <Filter label={t('clients.why')} value={tool} onChange={setTool} />
      </div>
      {tool !== '' && <Why who={who} tool={tool} />}
      <Loaded {...view}>{(data) => <View view={data} onWhy={setTool} />}</Loaded>
    </Screen>
  )
}

/** The same question on the command line. */
function whyCommand({ token, profile, server, era }: Who, tool: string): string {
  const flags = Object.entries({ client: token, profile, server, era: era === 'session' ? '' : era })
  return unfold('why', tool, ...flags.flatMap(([flag, value]) => (value === '' ? [] : [`--${flag}`, value])))
}

function Why({ who, tool: asked }: { readonly who: Who; readonly tool: string }) {
  const why = useQuery<Visibility>(`/why?${searchOf(who, { tool: asked })}`)
  return (
    <Loaded {...why}>
      {({ tool, isListed, isUsable, reason, next, checks }) => (
        <Card title={t(isListed ? 'why.listed' : isUsable ? 'why.usable' : 'why.hidden', { tool })}>
          <div class="stack">
            <p class="break">
              {reason} {next}
            </p>
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

function View({ view, onWhy }: { readonly view: ClientView; readonly onWhy: (tool: string) => void }) {
  const { listed, unlisted, listedTokens, allTokens } = view
  const rows = [
    ...listed.map(({ definition, tokens, upstream = '' }) => ({
      name: 'name' in definition ? String(definition.name) : '',
      tokens,
      upstream,
      isListed: true,
    })),
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
            { key: 'name', title: t('tools.name'), cell: ({ name }) => name, sort: ({ name }) => name },
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
