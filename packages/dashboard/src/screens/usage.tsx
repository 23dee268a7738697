import { unfold } from '../commands/command.ts'
import { Card, Loaded, Screen } from '../components/basics.tsx'
import { Command } from '../components/command.tsx'
import { type Column, Table } from '../components/table.tsx'
import { Tabs } from '../components/tabs.tsx'
import type { UsageReport, UsageRow } from '../data/contract.ts'
import { useQuery } from '../data/hooks.ts'
import { formatDate, formatDuration, formatNumber, t } from '../locales/translate.ts'
import { SentTokens } from './sent-tokens.tsx'
import { Edits } from './usage-parts/edits.tsx'

const columns: readonly Column<UsageRow>[] = [
  { key: 'key', title: t('usage.key'), cell: ({ key }) => key, sort: ({ key }) => key },
  { key: 'calls', title: t('usage.calls'), cell: ({ calls }) => formatNumber(calls), sort: ({ calls }) => calls, isNumber: true },
  {
    key: 'failures',
    title: t('usage.failures'),
    cell: ({ failures }) => failures,
    sort: ({ failures }) => failures,
    isNumber: true,
  },
  {
    key: 'mean',
    title: t('usage.mean'),
    cell: ({ meanMs }) => formatDuration(meanMs),
    sort: ({ meanMs }) => meanMs,
    isNumber: true,
  },
  {
    key: 'max',
    title: t('usage.max'),
    cell: ({ maxMs }) => formatDuration(maxMs),
    sort: ({ maxMs }) => maxMs,
    isNumber: true,
    hideSmall: true,
  },
  {
    key: 'size',
    title: t('activity.size'),
    cell: ({ sentCharacters, receivedCharacters }) => formatNumber(sentCharacters + receivedCharacters),
    isNumber: true,
    hideSmall: true,
  },
]

export function Usage() {
  const usage = useQuery<UsageReport>('/usage', ['call'])
  const table = (label: string, rows: readonly UsageRow[]) => ({
    key: label,
    title: label,
    content: () => (
      <Table
        label={label}
        columns={columns}
        rows={rows}
        rowKey={({ key }) => key}
        empty={t('calls.none')}
        emptyHint={t('calls.none.hint')}
      />
    ),
  })
  return (
    <Screen
      title={t('nav.usage')}
      actions={<Command text={unfold('usage')} />}
      lead={usage.data === undefined ? t('usage.lead') : t('usage.lead.since', { since: formatDate(usage.data.since) })}
    >
      <Loaded {...usage}>
        {({ byServer, byTool, byClient, byDay, lists, unused }) => (
          <>
            <SentTokens rows={lists} />
            <Tabs
              label={t('nav.usage')}
              tabs={[
                table(t('nav.servers'), byServer),
                table(t('nav.tools'), byTool),
                table(t('usage.clients'), byClient),
                table(t('usage.days'), byDay),
              ]}
            />
            {unused.length + byTool.length > 0 && (
              <Card
                isFlush
                title={t('usage.unused', { count: unused.length, tokens: unused.reduce((sum, { tokens }) => sum + tokens, 0) })}
              >
                <Table
                  label={t('usage.unused.label')}
                  isShort
                  rows={unused}
                  rowKey={({ name }) => name}
                  empty={t('usage.unused.none')}
                  columns={[
                    { key: 'name', title: t('tools.name'), cell: ({ name }) => name, sort: ({ name }) => name },
                    {
                      key: 'server',
                      title: t('server'),
                      cell: ({ upstream }) => upstream,
                      sort: ({ upstream }) => upstream,
                      hideSmall: true,
                    },
                    {
                      key: 'tokens',
                      title: t('tokens'),
                      cell: ({ tokens }) => formatNumber(tokens),
                      sort: ({ tokens }) => tokens,
                      isNumber: true,
                    },
                  ]}
                />
              </Card>
            )}
            <Edits unused={unused} used={byTool} />
          </>
        )}
      </Loaded>
    </Screen>
  )
}
