import { useMemo, useState } from 'preact/hooks'
import { unfold } from '../commands/command.ts'
import { Badge, Card, Loaded, Screen } from '../components/basics.tsx'
import { Command } from '../components/command.tsx'
import { Filter, matches, Select } from '../components/filter.tsx'
import { type Column, Table } from '../components/table.tsx'
import type { ServerState, Status } from '../data/contract.ts'
import { useQuery } from '../data/hooks.ts'
import { t } from '../locales/translate.ts'
import { href } from '../router/route.ts'
import { reasonOf, State, toneOf } from './state.tsx'

const order = { fail: 0, warn: 1, info: 2, ok: 3, neutral: 4 }

interface Row {
  readonly name: string
  readonly state: ServerState | 'not_started'
  /** Empty for a server that is as it should be. */
  readonly reason: string
  readonly tools: number
  readonly held: number
}

const rowsOf = ({ upstreams, notStarted }: Status): readonly Row[] => [
  ...notStarted.map(
    ({ name, problems }): Row => ({
      name,
      state: 'not_started',
      reason: problems.map(({ message }) => message).join(' '),
      tools: 0,
      held: 0,
    }),
  ),
  ...upstreams.map(
    (server): Row => ({
      name: server.name,
      state: server.state,
      reason: server.state === 'ready' ? '' : reasonOf(server),
      tools: server.offered,
      held: server.held,
    }),
  ),
]

const columns: readonly Column<Row>[] = [
  {
    key: 'name',
    title: t('servers.name'),
    cell: ({ name, reason }) => (
      <>
        {/* In an element of its own, so that it is not a link within the text of the reason. */}
        <div>
          <a href={href(['servers', name])}>{name}</a>
        </div>
        {reason !== '' && (
          <div class="only-small">
            <div class="small muted clamp">{reason}</div>
          </div>
        )}
      </>
    ),
    sort: ({ name }) => name,
  },
  {
    key: 'state',
    title: t('servers.state'),
    cell: ({ state }) => <State state={state} />,
    sort: ({ state }) => order[toneOf(state)],
  },
  {
    key: 'reason',
    title: t('servers.reason'),
    cell: ({ reason }) => <span class="muted clamp">{reason}</span>,
    hideSmall: true,
  },
  {
    key: 'tools',
    title: t('servers.tools'),
    cell: ({ tools }) => (tools === 0 ? <span class="muted">–</span> : tools),
    sort: ({ tools }) => tools,
    isNumber: true,
  },
  {
    key: 'held',
    title: t('servers.held'),
    cell: ({ held }) => (held > 0 ? <Badge tone="warn">{held}</Badge> : <span class="muted">–</span>),
    sort: ({ held }) => held,
    isNumber: true,
    hideSmall: true,
  },
]

/** How to add a server to a gateway that has none. */
export function FirstServer() {
  return (
    <>
      <span>{t('servers.none.hint')}</span>
      <Command text={unfold('add', 'files', 'npx', '-y', '@modelcontextprotocol/server-filesystem', '.')} />
    </>
  )
}

export function Servers() {
  const status = useQuery<Status>('/status', ['state', 'trust', 'config', 'change'])
  const [text, setText] = useState('')
  const [state, setState] = useState('')
  const { data } = status
  const all = useMemo(() => (data === undefined ? [] : rowsOf(data)), [data])
  const rows = useMemo(
    () =>
      all
        .filter((server) => matches(text, server.name, server.reason) && (state === '' || server.state === state))
        .toSorted((a, b) => order[toneOf(a.state)] - order[toneOf(b.state)]),
    [all, text, state],
  )
  const states = [...new Set(all.map((server) => server.state))]
  return (
    <Screen title={t('nav.servers')} lead={t('servers.lead')} actions={<Command text={unfold('status')} />}>
      <Loaded {...status}>
        {() => (
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
            <Card isFlush>
              <Table
                label={t('nav.servers')}
                columns={columns}
                rows={rows}
                rowKey={({ name }) => name}
                empty={t(all.length === 0 ? 'servers.none' : 'servers.empty')}
                emptyHint={all.length === 0 && <FirstServer />}
              />
            </Card>
          </>
        )}
      </Loaded>
    </Screen>
  )
}
