import { useEffect, useMemo, useState } from 'preact/hooks'
import { unfold } from '../commands/command.ts'
import { Loaded, Screen } from '../components/basics.tsx'
import { Command } from '../components/command.tsx'
import { Filter, matches, Select } from '../components/filter.tsx'
import { type Column, Table } from '../components/table.tsx'
import { Tabs } from '../components/tabs.tsx'
import type { Call } from '../data/contract.ts'
import { useEvents, useQuery } from '../data/hooks.ts'
import { formatDuration, formatNumber, formatTime, t } from '../locales/translate.ts'
import { href } from '../router/route.ts'
import { Audit } from './activity-parts/audit.tsx'
import { CallDetail } from './activity-parts/call.tsx'
import { Sessions } from './activity-parts/sessions.tsx'
import { Outcome, outcomeText } from './outcome.tsx'

const maxRows = 10_000

// A gateway that was restarted counts from one again.
const keyOf = ({ id, at }: Call): string => `${at} ${id}`

/** Newer rows in front of those that are shown already, without duplicates: a restarted gateway forgets its calls, the page does not. */
function merged(newer: readonly Call[], old: readonly Call[]): readonly Call[] {
  if (old.length === 0) return newer
  const known = new Set(newer.map(keyOf))
  return [...newer, ...old.filter((call) => !known.has(keyOf(call)))].slice(0, maxRows)
}

const columnsFor = (onOpen: (call: Call) => void): readonly Column<Call>[] => [
  { key: 'at', title: t('time'), cell: ({ at }) => <span class="muted">{formatTime(at)}</span> },
  { key: 'outcome', title: t('activity.outcome'), cell: (call) => <Outcome call={call} />, sort: ({ outcome }) => outcome },
  {
    key: 'server',
    title: t('server'),
    cell: ({ upstream }) => <a href={href(['servers', upstream])}>{upstream}</a>,
    sort: ({ upstream }) => upstream,
    hideSmall: true,
  },
  {
    key: 'tool',
    title: t('tools.name'),
    cell: (call) => (
      <button type="button" class="link" onClick={() => onOpen(call)} aria-label={t('call.show', { tool: call.tool })}>
        {call.tool}
      </button>
    ),
    sort: ({ tool }) => tool,
  },
  { key: 'client', title: t('clients.name'), cell: ({ client }) => client, sort: ({ client }) => client, hideSmall: true },
  { key: 'ms', title: t('activity.duration'), cell: ({ ms }) => formatDuration(ms), sort: ({ ms }) => ms, isNumber: true },
  {
    key: 'size',
    title: t('activity.size'),
    cell: ({ sentCharacters, receivedCharacters }) => formatNumber(sentCharacters + receivedCharacters),
    isNumber: true,
    hideSmall: true,
  },
]

export function Activity({ query }: { readonly query: URLSearchParams }) {
  return (
    <Screen title={t('nav.activity')} lead={t('activity.lead')} actions={<Command text={unfold('logs', '--follow')} />}>
      <Tabs
        label={t('nav.activity')}
        tabs={[
          { key: 'calls', title: t('usage.calls'), content: () => <Calls filter={query.get('filter') ?? ''} /> },
          { key: 'sessions', title: t('sessions.title'), content: () => <Sessions /> },
          { key: 'audit', title: t('audit.title'), content: () => <Audit /> },
        ]}
      />
    </Screen>
  )
}

/** Calls as they happen, newest first. */
function Calls({ filter }: { readonly filter: string }) {
  const stored = useQuery<readonly Call[]>('/calls?limit=1000')
  const [rows, setRows] = useState<readonly Call[]>([])
  const [text, setText] = useState(filter)
  const [isPaused, setPaused] = useState(false)
  const [opened, setOpened] = useState<Call>()
  const [outcome, setOutcome] = useState('')
  const columns = useMemo(() => columnsFor(setOpened), [])
  useEffect(() => {
    const { data } = stored
    if (data !== undefined) setRows((old) => merged(data.toReversed(), old))
  }, [stored.data])
  useEvents((events) => {
    const calls = events.filter(({ type }) => type === 'call') as unknown as readonly Call[]
    if (calls.length > 0 && !isPaused) setRows((old) => merged(calls.toReversed(), old))
  })
  const shown = useMemo(
    () =>
      rows.filter(
        (call) =>
          (outcome === '' || call.outcome === outcome) && matches(text, call.upstream, call.tool, call.client, call.outcome),
      ),
    [rows, text, outcome],
  )
  const outcomes = [...new Set(rows.map((call) => call.outcome))]
  return (
    <>
      <div class="filters toolbar">
        <Filter label={t('filter')} value={text} onChange={setText} />
        <Select
          label={t('activity.outcome')}
          value={outcome}
          onChange={setOutcome}
          options={[['', t('all')], ...outcomes.map((each) => [each, outcomeText(each)] as const)]}
        />
        <button type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {t('activity.pause')}
        </button>
        <span class="muted" role="status">
          {t('activity.count', { count: shown.length })}
        </span>
      </div>
      <Loaded {...stored}>
        {() => (
          <Table
            label={t('nav.activity')}
            columns={columns}
            rows={shown}
            rowKey={keyOf}
            empty={t(rows.length === 0 ? 'calls.none' : 'calls.no-match')}
            emptyHint={rows.length === 0 && t('calls.none.hint')}
          />
        )}
      </Loaded>
      {opened !== undefined && <CallDetail key={opened.id} call={opened} calls={rows} onClose={() => setOpened(undefined)} />}
    </>
  )
}
