import { useMemo, useState } from 'preact/hooks'
import { unfold } from '../commands/command.ts'
import { Card, Loaded, Screen } from '../components/basics.tsx'
import { Command } from '../components/command.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Filter, matches, Select } from '../components/filter.tsx'
import { Table } from '../components/table.tsx'
import type { Tool, ToolDetail } from '../data/contract.ts'
import { useQuery } from '../data/hooks.ts'
import { t } from '../locales/translate.ts'
import { href, replaceQuery } from '../router/route.ts'
import { toolColumns } from './tool-columns.tsx'

const serverColumn = {
  key: 'server',
  title: t('server'),
  cell: ({ upstream }: Tool) => <a href={href(['servers', upstream])}>{upstream}</a>,
  sort: ({ upstream }: Tool) => upstream,
}

const columns = [serverColumn, ...toolColumns]

export function Tools({ query }: { readonly query: URLSearchParams }) {
  const tools = useQuery<readonly Tool[]>('/tools', ['change', 'state', 'trust'])
  const [text, setText] = useState('')
  const [server, setServer] = useState('')
  const servers = [...new Set((tools.data ?? []).map(({ upstream }) => upstream))]
  const rows = useMemo(
    () =>
      (tools.data ?? [])
        .filter((tool) => (server === '' || tool.upstream === server) && matches(text, tool.name, tool.description))
        .toSorted((a, b) => a.upstream.localeCompare(b.upstream)),
    [tools.data, text, server],
  )
  const selected = tools.data?.find(({ name }) => name === query.get('tool'))
  return (
    <Screen title={t('nav.tools')} lead={t('tools.lead')}>
      <div class="filters">
        <Filter label={t('filter')} value={text} onChange={setText} />
        <Select
          label={t('server')}
          value={server}
          onChange={setServer}
          options={[['', t('all')], ...servers.map((each) => [each, each] as const)]}
        />
      </div>
      {text !== '' && <Command text={unfold('search', text)} label={t('tools.search')} />}
      <Loaded {...tools}>
        {() => (
          <Card isFlush>
            <Table
              label={t('nav.tools')}
              columns={columns}
              rows={rows}
              rowKey={({ name }) => name}
              empty={t('tools.empty')}
              emptyHint={t('tools.empty.hint')}
            />
          </Card>
        )}
      </Loaded>
      {selected !== undefined && <Detail key={selected.name} tool={selected} />}
    </Screen>
  )
}

function Detail({ tool }: { readonly tool: Tool }) {
  const detail = useQuery<ToolDetail>(`/tools/${encodeURIComponent(tool.name)}`)
  return (
    <Dialog title={tool.name} onClose={() => replaceQuery({})}>
      <p class="break">{tool.description}</p>
      <div class="row">
        <a href={href(['servers', tool.upstream])}>{tool.upstream}</a>
        <span class="muted">{t('tools.cost', { count: tool.tokens })}</span>
        <a href={href(['clients'], { tool: tool.name })}>{t('tools.why')}</a>
      </div>
      <div>
        <h3>{t('tools.try')}</h3>
        <Command text={unfold('call', tool.upstream, tool.tool)} />
      </div>
      <Loaded {...detail}>
        {({ definition }) => (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
          <pre tabIndex={0}>{JSON.stringify(definition, null, 2)}</pre>
        )}
      </Loaded>
    </Dialog>
  )
}
