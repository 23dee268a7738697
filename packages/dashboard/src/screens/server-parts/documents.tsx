import { Loaded } from '../../components/basics.tsx'
import { Table } from '../../components/table.tsx'
import type { ServerDocuments } from '../../data/contract.ts'
import { useQuery } from '../../data/hooks.ts'
import { t } from '../../locales/translate.ts'

/** Prompts and resources of a server. */
export function Documents({ name }: { readonly name: string }) {
  const documents = useQuery<ServerDocuments>(`/documents?upstream=${encodeURIComponent(name)}`, ['state', 'change'])
  return (
    <Loaded {...documents}>
      {({ prompts, resources, templates }) => (
        <Table
          label={t('server.documents.title')}
          rows={[
            ...prompts.map((row) => ({ ...row, kind: t('documents.prompt') })),
            ...resources.map((row) => ({ ...row, kind: t('documents.resource') })),
            ...templates.map((row) => ({ ...row, kind: t('documents.template') })),
          ]}
          rowKey={({ kind, id }) => `${kind} ${id}`}
          empty={t('server.no-documents')}
          columns={[
            { key: 'kind', title: t('documents.kind'), cell: ({ kind }) => kind, sort: ({ kind }) => kind },
            { key: 'id', title: t('usage.key'), cell: ({ id }) => <span class="break">{id}</span>, sort: ({ id }) => id },
            { key: 'title', title: t('documents.title'), cell: ({ title }) => title, hideSmall: true },
            {
              key: 'description',
              title: t('tools.description'),
              cell: ({ description }) => <span class="muted">{description}</span>,
              hideSmall: true,
            },
          ]}
        />
      )}
    </Loaded>
  )
}
