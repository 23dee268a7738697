import { unfold } from '../../commands/command.ts'
import { Badge, Empty, Loaded, Screen } from '../../components/basics.tsx'
import { Command } from '../../components/command.tsx'
import { Diff } from '../../components/diff.tsx'
import { type Tab, Tabs } from '../../components/tabs.tsx'
import type { ListChange, Status, ToolDetail, UsageReport } from '../../data/contract.ts'
import { useQuery } from '../../data/hooks.ts'
import { formatDate, formatDuration, formatNumber, t } from '../../locales/translate.ts'
import { href } from '../../router/route.ts'
import { Json } from './result.tsx'
import { TryIt } from './try-it.tsx'

/** One tool: what it does, how to try it, and how it was used and changed. */
export function ToolScreen({ name }: { readonly name: string }) {
  const detail = useQuery<ToolDetail>(`/tools/${encodeURIComponent(name)}`, ['change', 'trust'])
  return (
    <Screen title={name} back={{ href: href(['tools']), text: t('tool.back') }}>
      <Loaded {...detail}>{(data) => <Parts detail={data} />}</Loaded>
    </Screen>
  )
}

function Parts({ detail }: { readonly detail: ToolDetail }) {
  const { name, upstream, tool, tokens, definition } = detail
  const status = useQuery<Status>('/status')
  const annotations = Object.entries(definition.annotations ?? {}).filter(([, value]) => value === true)
  const tabs: readonly Tab[] = [
    { key: 'try', title: t('tools.try'), content: () => <TryIt key={name} name={name} schema={definition.inputSchema} /> },
    {
      key: 'definition',
      title: t('tool.definition'),
      content: () => (
        <div class="stack padded">
          <Json value={definition} />
          <Command text={unfold('describe', status.data?.url ?? '', name)} />
        </div>
      ),
    },
    { key: 'history', title: t('server.history'), content: () => <ToolHistory upstream={upstream} tool={tool} /> },
    { key: 'usage', title: t('nav.usage'), content: () => <ToolUsage upstream={upstream} tool={tool} /> },
  ]
  return (
    <>
      <div class="stack">
        <p class="break lines">{definition.description ?? ''}</p>
        <div class="row">
          <a href={href(['servers', upstream])}>{upstream}</a>
          <span class="muted">{t('tools.cost', { count: tokens })}</span>
          {annotations.map(([key]) => (
            <Badge key={key}>{key}</Badge>
          ))}
          <a href={href(['clients'], { tool: name })}>{t('tools.why')}</a>
        </div>
      </div>
      <Tabs label={name} tabs={tabs} />
    </>
  )
}

function ToolHistory({ upstream, tool }: { readonly upstream: string; readonly tool: string }) {
  const history = useQuery<readonly ListChange[]>(`/history?upstream=${encodeURIComponent(upstream)}`, ['change'])
  return (
    <Loaded {...history}>
      {(entries) => {
        const own = entries.flatMap(({ at, changes }) =>
          changes.filter((change) => change.tool === tool).map((change) => ({ at, ...change })),
        )
        if (own.length === 0) return <Empty title={t('tool.no-history')} />
        return (
          <ul class="timeline padded">
            {own.toReversed().map(({ at, kind, differences }) => (
              <li key={at}>
                <strong>{t(`history.${kind}`)}</strong> <span class="muted">{formatDate(at)}</span>
                {differences.length > 0 && <Diff label={t('review.diff', { name: tool })} differences={differences} />}
              </li>
            ))}
          </ul>
        )
      }}
    </Loaded>
  )
}

function ToolUsage({ upstream, tool }: { readonly upstream: string; readonly tool: string }) {
  const usage = useQuery<UsageReport>('/usage', ['call'])
  return (
    <Loaded {...usage}>
      {({ since, byTool }) => {
        const row = byTool.find(({ key }) => key === `${upstream}/${tool}`)
        if (row === undefined) return <Empty title={t('tool.unused')}>{t('usage.since', { since: formatDate(since) })}</Empty>
        const facts = [
          [t('usage.calls'), formatNumber(row.calls)],
          [t('usage.failures'), formatNumber(row.failures)],
          [t('usage.mean'), formatDuration(row.meanMs)],
          [t('usage.max'), formatDuration(row.maxMs)],
          [t('activity.size'), formatNumber(row.sentCharacters + row.receivedCharacters)],
        ] as const
        return (
          <div class="stack padded">
            <p class="muted">{t('usage.since', { since: formatDate(since) })}</p>
            <dl class="facts">
              {facts.map(([label, value]) => (
                <>
                  <dt>{label}</dt>
                  <dd>{value}</dd>
                </>
              ))}
            </dl>
            <a href={href(['activity'], { filter: tool })}>{t('tool.calls')}</a>
          </div>
        )
      }}
    </Loaded>
  )
}
