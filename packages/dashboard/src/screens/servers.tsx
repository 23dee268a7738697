import { useMemo, useState } from 'preact/hooks'
import { Badge, Card, Loaded, Screen } from '../components/basics.tsx'
import { Command } from '../components/command.tsx'
import { Filter, matches, Select } from '../components/filter.tsx'
import { type Column, Table } from '../components/table.tsx'
import type { Server, Status } from '../data/contract.ts'
import { useQuery } from '../data/hooks.ts'
import { t } from '../locales/translate.ts'
import { href } from '../router/route.ts'
import { reasonOf, State, toneOf } from './state.tsx'

const order = { fail: 0, warn: 1, info: 2, ok: 3, neutral: 4 }

const columns: readonly Column<Server>[] = [
  {
    key: 'name',
    title: t('servers.name'),
    cell: ({ name }) => <a href={href(['servers', name])}>{name}</a>,
    sort: ({ name }) => name,
  },
  {
    key: 'state',
    title: t('servers.state'),
    cell: ({ state }) => <State state={state} />,
    sort: ({ state }) => order[toneOf(state)],
  },
  { key: 'reason', title: t('servers.reason'), cell: (server) => <span class="muted">{reasonOf(server)}</span>, hideSmall: true },
  { key: 'tools', title: t('servers.tools'), cell: ({ offered }) => offered, sort: ({ offered }) => offered, isNumber: true },
  {
    key: 'held',
    title: t('servers.held'),
    cell: ({ held }) => (held > 0 ? <Badge tone="warn">{held}</Badge> : '–'),
    sort: ({ held }) => held,
    isNumber: true,
    hideSmall: true,
  },
]

export function Servers() {
  const status = useQuery<Status>('/status', ['state', 'trust', 'config', 'change'])
  const [text, setText] = useState('')
  const [state, setState] = useState('')
  const { data } = status
  const rows = useMemo(
    () =>
      (data?.upstreams ?? [])
        .filter((server) => matches(text, server.name, reasonOf(server)) && (state === '' || server.state === state))
        .toSorted((a, b) => order[toneOf(a.state)] - order[toneOf(b.state)]),
    [data, text, state],
  )
  const states = [...new Set((data?.upstreams ?? []).map((server) => server.state))]
  return (
    <Screen title={t('nav.servers')} lead={t('servers.lead')}>
      <Loaded {...status}>
        {({ notStarted }) => (
          <>
            <div class="filters">
              <Filter label={t('filter')} value={text} onChange={setText} />
              <Select
                label={t('servers.state')}
                value={state}
                onChange={setState}
                options={[['', t('all')], ...states.map((each) => [each, t(`state.${each}`)] as const)]}
              />
            </div>
            {notStarted.map(({ name, problems }) => (
              <Card key={name} title={t('concern.not-started', { server: name })}>
                {problems.map(({ message }) => (
                  <p key={message} class="break">
                    {message}
                  </p>
                ))}
              </Card>
            ))}
            <Card isFlush>
              <Table
                label={t('nav.servers')}
                columns={columns}
                rows={rows}
                rowKey={({ name }) => name}
                empty={t('servers.empty')}
                emptyHint={<Command text="unfold add <name> <url>" />}
              />
            </Card>
          </>
        )}
      </Loaded>
    </Screen>
  )
}
