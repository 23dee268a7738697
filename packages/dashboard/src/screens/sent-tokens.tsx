import { Card } from '../components/basics.tsx'
import { type Column, Table } from '../components/table.tsx'
import type { ListUsageRow } from '../data/contract.ts'
import { formatNumber, formatPercent, t } from '../locales/translate.ts'
import { href } from '../router/route.ts'

type Sum = Pick<ListUsageRow, 'lists' | 'sentTokens' | 'allTokens'>

/** Share of a full list that was not sent. */
export const savedOf = ({ sentTokens, allTokens }: Pick<Sum, 'sentTokens' | 'allTokens'>): number =>
  allTokens === 0 ? 0 : 1 - sentTokens / allTokens

/** A list may cost more than all tools: one with search tools next to everything. */
const savedText = (share: number): string =>
  share < 0 ? t('sent.more', { share: formatPercent(-share) }) : t('sent.saved', { share: formatPercent(share) })

export const sumOf = (rows: readonly Sum[]): Sum => {
  const sum = (of: (row: Sum) => number): number => rows.reduce((total, row) => total + of(row), 0)
  return { lists: sum(({ lists }) => lists), sentTokens: sum((row) => row.sentTokens), allTokens: sum((row) => row.allTokens) }
}

/** The parts of an id such as `token:alice/reading/s/github`. */
function partsOf(client: string): { readonly token: string; readonly profile: string; readonly server: string } {
  const [principal = '', ...rest] = client.split('/').map(decodeURIComponent)
  const token = principal.startsWith('token:') ? principal.slice('token:'.length) : ''
  const [profile = ''] = rest[0] === 's' ? [] : rest
  return { token, profile, server: rest.at(-2) === 's' ? (rest.at(-1) ?? '') : '' }
}

/** Its host, token, profile and server; clients that have none of them are one row. */
function labelOf({ client, host = '' }: ListUsageRow): string {
  const { token, profile, server } = partsOf(client)
  const [first, ...others] = [host, token, profile, server].filter((part) => part !== '')
  if (first === undefined) return t('sent.others')
  return others.length === 0 ? first : `${first} (${others.join(', ')})`
}

const columns: readonly Column<ListUsageRow>[] = [
  {
    key: 'client',
    title: t('clients.name'),
    cell: (row) => (
      <a class="nowrap" href={href(['clients'], { host: row.hostId, ...partsOf(row.client) })}>
        {labelOf(row)}
      </a>
    ),
    sort: labelOf,
  },
  {
    key: 'lists',
    title: t('sent.lists'),
    cell: ({ lists }) => formatNumber(lists),
    sort: ({ lists }) => lists,
    isNumber: true,
    hideSmall: true,
  },
  {
    key: 'sent',
    title: t('sent.tokens'),
    cell: ({ sentTokens }) => formatNumber(sentTokens),
    sort: ({ sentTokens }) => sentTokens,
    isNumber: true,
  },
  {
    key: 'all',
    title: t('sent.all'),
    cell: ({ allTokens }) => formatNumber(allTokens),
    sort: ({ allTokens }) => allTokens,
    isNumber: true,
    hideSmall: true,
  },
  {
    key: 'saved',
    title: t('clients.saved'),
    cell: (row) => (savedOf(row) < 0 ? savedText(savedOf(row)) : formatPercent(savedOf(row))),
    sort: savedOf,
    isNumber: true,
  },
]

interface SentTokensTableProps {
  readonly rows: readonly ListUsageRow[]
  /** Without the number of lists, for half of a screen. */
  readonly isShort?: boolean
}

export function SentTokensTable({ rows, isShort = false }: SentTokensTableProps) {
  return (
    <Table
      label={t('sent.title')}
      isShort
      columns={isShort ? columns.filter(({ key }) => key !== 'lists') : columns}
      rows={rows}
      rowKey={({ client, host = '' }) => `${client} ${host}`}
      empty={t('sent.none')}
      emptyHint={t('sent.none.hint')}
    />
  )
}

/** What clients were sent in tool lists, measured list by list. */
export function SentTokens({ rows }: { readonly rows: readonly ListUsageRow[] }) {
  const sum = sumOf(rows)
  return (
    <Card
      title={t('sent.title')}
      isFlush
      note={rows.length > 0 ? t('sent.summary', { ...sum, count: sum.lists, saved: savedText(savedOf(sum)) }) : undefined}
    >
      <SentTokensTable rows={rows} />
    </Card>
  )
}
