import { unfold } from '../../commands/command.ts'
import { Badge, Empty, Loaded } from '../../components/basics.tsx'
import { Command } from '../../components/command.tsx'
import { Table } from '../../components/table.tsx'
import type { AuditRecord, AuditRecords, AuditVerification } from '../../data/contract.ts'
import { useQuery } from '../../data/hooks.ts'
import { formatDate, t } from '../../locales/translate.ts'
import { outcomeText } from '../outcome.tsx'

/** The audit log, and whether it is intact. */
export function Audit() {
  const records = useQuery<AuditRecords>('/audit?limit=500', ['call', 'trust', 'config'])
  return (
    <Loaded {...records}>
      {({ isConfigured, records: rows }) =>
        isConfigured ? (
          <>
            <Verification />
            <Table
              label={t('audit.title')}
              rows={rows.toReversed()}
              rowKey={({ seq, at }) => `${seq} ${at}`}
              empty={t('audit.none')}
              columns={[
                { key: 'seq', title: '#', cell: ({ seq }) => seq, isNumber: true, hideSmall: true },
                { key: 'at', title: t('time'), cell: ({ at }) => <span class="nowrap">{formatDate(at)}</span> },
                { key: 'type', title: t('audit.type'), cell: ({ type }) => type, sort: ({ type }) => type, hideSmall: true },
                { key: 'what', title: t('audit.what'), cell: (record) => <span class="break">{whatOf(record)}</span> },
                {
                  key: 'outcome',
                  title: t('activity.outcome'),
                  cell: ({ outcome = '' }) => outcomeText(outcome),
                  sort: ({ outcome = '' }) => outcome,
                },
                { key: 'client', title: t('audit.client'), cell: ({ client }) => client ?? '', hideSmall: true },
              ]}
            />
          </>
        ) : (
          <Empty title={t('audit.off')}>
            <span>{t('audit.off.hint')}</span>
            <Command text={'"audit": { "path": "audit.jsonl" }'} label={t('audit.entry')} />
          </Empty>
        )
      }
    </Loaded>
  )
}

const whatOf = ({ upstream, tool, ...record }: AuditRecord): string =>
  [upstream, tool, record.edit].filter((part) => typeof part === 'string').join(' / ')

function Verification() {
  const verification = useQuery<AuditVerification>('/audit/verify')
  return (
    <div class="stack padded">
      <Loaded {...verification}>
        {({ isIntact, chains }) => (
          <>
            <div class="row" role="status">
              <Badge tone={isIntact ? 'ok' : 'fail'}>{t(isIntact ? 'audit.intact' : 'audit.broken')}</Badge>
              <span class="muted">{t('audit.records', { count: chains.reduce((sum, { records }) => sum + records, 0) })}</span>
              <button type="button" class="tiny" onClick={verification.reload}>
                {t('audit.again')}
              </button>
            </div>
            {chains.map(({ path, problem, notes }) => (
              <div key={path} class="small break">
                {problem !== undefined && (
                  <p role="alert">
                    {problem.file}:{problem.line} {problem.message}
                  </p>
                )}
                {notes.map((note) => (
                  <p key={note} class="muted">
                    {note}
                  </p>
                ))}
              </div>
            ))}
          </>
        )}
      </Loaded>
      <Command text={unfold('audit', 'verify')} label={t('activity.audit')} />
    </div>
  )
}
