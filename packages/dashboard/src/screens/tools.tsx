import { useMemo, useState } from 'preact/hooks'
import { unfold } from '../commands/command.ts'
import { Card, Loaded, Screen } from '../components/basics.tsx'
import { Command } from '../components/command.tsx'
import { Filter, matches, Select } from '../components/filter.tsx'
import { Table } from '../components/table.tsx'
import type { ClientView, Status, Tool } from '../data/contract.ts'
import { useQuery } from '../data/hooks.ts'
import { t } from '../locales/translate.ts'
import { href } from '../router/route.ts'
import { SearchReport } from './tool/search-report.tsx'
import { toolColumns } from './tool-columns.tsx'

const serverColumn = {
  key: 'server',
  title: t('server'),
  cell: ({ upstream }: Tool) => <a href={href(['servers', upstream])}>{upstream}</a>,
  sort: ({ upstream }: Tool) => upstream,
  hideSmall: true,
}

const columns = [serverColumn, ...toolColumns]

export function Tools() {
  const tools = useQuery<readonly Tool[]>('/tools', ['change', 'state', 'trust'])
  const url = useQuery<Status>('/status').data?.url ?? ''
  const [text, setText] = useState('')
  const [server, setServer] = useState('')
  const [asked, setAsked] = useState('')
  const servers = [...new Set((tools.data ?? []).map(({ upstream }) => upstream))]
  const rows = useMemo(
    () =>
      (tools.data ?? [])
        .filter((tool) => (server === '' || tool.upstream === server) && matches(text, tool.name, tool.description))
        .toSorted((a, b) => a.upstream.localeCompare(b.upstream)),
    [tools.data, text, server],
  )
  return (
    <Screen
      title={t('nav.tools')}
      lead={t('tools.lead')}
      actions={<Command text={asked === '' ? unfold('list', url) : unfold('search', url, asked)} />}
    >
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault()
          setAsked(text)
        }}
      >
        <Filter label={t('filter')} value={text} onChange={setText} />
        <Select
          label={t('server')}
          value={server}
          onChange={setServer}
          options={[['', t('all')], ...servers.map((each) => [each, each] as const)]}
        />
        <button type="submit" disabled={text.trim() === ''}>
          {t('tools.search')}
        </button>
        {asked === '' ? (
          <span class="muted" role="status">
            {t('clients.count', { count: rows.length })}
          </span>
        ) : (
          <button type="button" class="plain" onClick={() => setAsked('')}>
            {t('search.close')}
          </button>
        )}
      </form>
      {asked !== '' && <Search query={asked} />}
      {asked === '' && (
        <Loaded {...tools}>
          {() => (
            <Card isFlush>
              <Table
                label={t('nav.tools')}
                columns={columns}
                rows={rows}
                rowKey={({ name }) => name}
                empty={t(tools.data?.length === 0 ? 'tools.none' : 'tools.empty')}
                emptyHint={
                  tools.data?.length === 0 ? (
                    <a href={href(['servers'])}>{t('overview.servers.note')}</a>
                  ) : (
                    <a href={href(['clients'], { tool: text.trim() })}>{t('tools.why')}</a>
                  )
                }
              />
            </Card>
          )}
        </Loaded>
      )}
    </Screen>
  )
}

/** The search of a client without a token. The screen "View as client" searches as any other one. */
function Search({ query }: { readonly query: string }) {
  const view = useQuery<ClientView>(`/view?${new URLSearchParams({ search: query }).toString()}`)
  return (
    <Loaded {...view}>{({ search }) => (search === undefined ? null : <SearchReport query={query} report={search} />)}</Loaded>
  )
}
