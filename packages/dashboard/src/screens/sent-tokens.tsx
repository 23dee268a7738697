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

const anonymous = 'anonymous'

/** Its host, and the token that it presented; clients that say neither are one row. */
const labelOf = ({ client, host }: ListUsageRow): string => {
  if (host === undefined) return client === anonymous ? t('sent.others') : client
  return client === anonymous ? host : `${host} (${client})`
}

const columns: readonly Column<ListUsageRow>[] = [
  {
    key: 'client',
    title: t('clients.name'),
    cell: (row) => (
      <a class="nowrap" href={href(['clients'], { host: row.host, token: row.client === anonymous ? undefined : row.client })}>{labelOf(row)}</a>
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
  { key: 'saved', title: t('clients.saved'), cell: (row) => savedText(savedOf(row)), sort: savedOf, isNumber: true },
]

export function SentTokensTable({ rows }: { readonly rows: readonly ListUsageRow[] }) {
  return (
    <Table
      label={t('sent.title')}
      isShort
      columns={columns}
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
