import { Empty, Loaded } from '../../components/basics.tsx'
import { Diff } from '../../components/diff.tsx'
import { Table } from '../../components/table.tsx'
import type { Change, ListChange } from '../../data/contract.ts'
import { useQuery } from '../../data/hooks.ts'
import { formatDate, t } from '../../locales/translate.ts'

/** Changes of the tool list of a server: what changed in each definition, and older ones by name. */
export function History({ name }: { readonly name: string }) {
  const upstream = encodeURIComponent(name)
  const history = useQuery<readonly ListChange[]>(`/history?upstream=${upstream}`, ['change'])
  const changes = useQuery<readonly Change[]>(`/changes?limit=200&upstream=${upstream}`, ['change'])
  return (
    <>
      <Loaded {...history}>{(entries) => (entries.length === 0 ? null : <Definitions entries={entries} />)}</Loaded>
      <Loaded {...changes}>
        {(rows) => (
          <Table
            label={t('server.history')}
            rows={rows.toReversed()}
            rowKey={({ id }) => id}
            empty={t('server.no-history')}
            columns={[
              { key: 'at', title: t('time'), cell: ({ at }) => formatDate(at) },
              {
                key: 'change',
                title: t('server.change'),
                cell: ({ added, changed, removed }) => `+${added} −${removed} ~${changed}`,
              },
              { key: 'names', title: t('nav.tools'), cell: ({ names }) => namesText(names) },
            ]}
          />
        )}
      </Loaded>
    </>
  )
}

const namesText = ({ added, changed, removed }: Change['names']): string =>
  [...added.map((each) => `+${each}`), ...removed.map((each) => `−${each}`), ...changed.map((each) => `~${each}`)].join(', ')

const maxShown = 20

function Definitions({ entries }: { readonly entries: readonly ListChange[] }) {
  const changed = entries.flatMap(({ at, changes }) => changes.map((change) => ({ at, ...change })))
  if (changed.length === 0) return <Empty title={t('server.no-history')} />
  return (
    <ul class="timeline padded">
      {changed
        .toReversed()
        .slice(0, maxShown)
        .map(({ at, tool, kind, differences }) => (
          <li key={`${at} ${tool}`}>
            <strong class="break">{tool}</strong> {t(`history.${kind}`)} <span class="muted">{formatDate(at)}</span>
            {differences.length > 0 && <Diff label={t('review.diff', { name: tool })} differences={differences} />}
          </li>
        ))}
    </ul>
  )
}
