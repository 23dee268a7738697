import { Card } from '../components/basics.tsx'
import { type Column, Table } from '../components/table.tsx'
import type { ListUsageRow } from '../data/contract.ts'
import { formatNumber, formatPercent, t } from '../locales/translate.ts'

/** Share of a full list that was not sent. */
const savedOf = ({ sentTokens, allTokens }: Pick<ListUsageRow, 'sentTokens' | 'allTokens'>): number =>
  allTokens === 0 ? 0 : 1 - sentTokens / allTokens

/** A list may cost more than all tools: one with search tools next to everything. */
const savedText = (share: number): string =>
  share < 0 ? t('sent.more', { share: formatPercent(-share) }) : t('sent.saved', { share: formatPercent(share) })

const columns: readonly Column<ListUsageRow>[] = [
  {
    key: 'client',
    title: t('clients.name'),
    cell: ({ client, host }) => (host === undefined ? client : `${host} (${client})`),
    sort: ({ client, host = '' }) => `${host} ${client}`,
  },
  { key: 'lists', title: t('sent.lists'), cell: ({ lists }) => formatNumber(lists), sort: ({ lists }) => lists, isNumber: true },
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
  { key: 'saved', title: t('clients.saved'), cell: (row) => savedText(savedOf(row)), sort: savedOf, isNumber: true },
]

/** What clients were sent in tool lists, measured list by list. */
export function SentTokens({ rows }: { readonly rows: readonly ListUsageRow[] }) {
  return (
    <Card title={t('sent.title')}>
      {rows.length > 0 && <p>{sentSummary(rows)}</p>}
      <Table
        label={t('sent.title')}
        isShort
        columns={columns}
        rows={rows}
        rowKey={({ client, host = '' }) => `${client} ${host}`}
        empty={t('sent.none')}
        emptyHint={t('sent.none.hint')}
      />
    </Card>
  )
}

/** One sentence about all clients. */
export function sentSummary(rows: readonly ListUsageRow[]): string {
  const sum = (of: (row: ListUsageRow) => number): number => rows.reduce((total, row) => total + of(row), 0)
  const [sentTokens, allTokens] = [sum((row) => row.sentTokens), sum((row) => row.allTokens)]
  const values = { count: sum(({ lists }) => lists), sentTokens, allTokens }
  return t('sent.summary', { ...values, saved: savedText(savedOf({ sentTokens, allTokens })) })
}
