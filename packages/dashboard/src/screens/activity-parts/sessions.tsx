import { Loaded } from '../../components/basics.tsx'
import { Table } from '../../components/table.tsx'
import type { Client } from '../../data/contract.ts'
import { useQuery } from '../../data/hooks.ts'
import { formatDuration, formatNumber, t } from '../../locales/translate.ts'
import { href } from '../../router/route.ts'

/** Who is connected, and since when. */
export function Sessions() {
  const clients = useQuery<readonly Client[]>('/clients', ['call'])
  return (
    <Loaded {...clients}>
      {(rows) => (
        <Table
          label={t('sessions.title')}
          rows={rows.map((row, index) => ({ ...row, index }))}
          rowKey={({ index }) => index}
          empty={t('clients.empty')}
          emptyHint={<a href={href(['connect'])}>{t('clients.connect')}</a>}
          columns={[
            {
              key: 'name',
              title: t('clients.name'),
              cell: ({ name, version = '' }) => `${name ?? t('clients.unnamed')} ${version}`,
              sort: ({ name = '' }) => name,
            },
            { key: 'era', title: t('clients.era'), cell: ({ era, transport = '' }) => `${era} ${transport}`, hideSmall: true },
            { key: 'token', title: t('clients.token'), cell: ({ token, profile, server }) => token ?? profile ?? server ?? '–' },
            {
              key: 'since',
              title: t('sessions.since'),
              cell: ({ sinceMs }) => formatDuration(sinceMs),
              sort: ({ sinceMs }) => sinceMs,
              isNumber: true,
            },
            {
              key: 'idle',
              title: t('clients.idle'),
              cell: ({ idleMs }) => formatDuration(idleMs),
              sort: ({ idleMs }) => idleMs,
              isNumber: true,
            },
            {
              key: 'requests',
              title: t('sessions.requests'),
              cell: ({ requests }) => (requests === undefined ? '–' : formatNumber(requests)),
              isNumber: true,
              hideSmall: true,
            },
          ]}
        />
      )}
    </Loaded>
  )
}
