import { useState } from 'preact/hooks'
import { unfold } from '../../commands/command.ts'
import { Card, Loaded } from '../../components/basics.tsx'
import { Command } from '../../components/command.tsx'
import { Diff } from '../../components/diff.tsx'
import { Table } from '../../components/table.tsx'
import { act } from '../../components/toasts.tsx'
import { send } from '../../data/api.ts'
import type { ClientView, Difference, PageSession, ServerSettings, SettingsResult, UsageReport } from '../../data/contract.ts'
import { useQuery } from '../../data/hooks.ts'
import { formatNumber, formatPercent, t } from '../../locales/translate.ts'

type Unused = UsageReport['unused'][number]

/** Edits that remove unused tools from lists, with their measured effect before they are applied. */
export function Edits({ unused }: { readonly unused: readonly Unused[] }) {
  const view = useQuery<ClientView>('/view', ['change', 'config'])
  const servers = [...new Set(unused.map(({ upstream }) => upstream))]
  return (
    <Loaded {...view}>
      {(data) => (
        <>
          {servers.length > 0 && (
            <Card title={t('edits.deny.title')} isFlush>
              <Denials view={data} unused={unused} servers={servers} />
            </Card>
          )}
          <Exposures current={data} />
        </>
      )}
    </Loaded>
  )
}

const fewer = (tokens: number): string => (tokens === 0 ? '0' : `−${formatNumber(tokens)}`)

interface Row {
  readonly server: string
  readonly tools: readonly string[]
  readonly allTokens: number
  readonly listedTokens: number
}

interface DenialsProps {
  readonly view: ClientView
  readonly unused: readonly Unused[]
  readonly servers: readonly string[]
}

function Denials({ view, unused, servers }: DenialsProps) {
  const [chosen, setChosen] = useState<Row>()
  const listed = new Set(view.listed.map(({ definition }) => ('name' in definition ? definition.name : '')))
  const sum = (tools: readonly Unused[]): number => tools.reduce((total, { tokens }) => total + tokens, 0)
  const rows = servers.map((server): Row => {
    const own = unused.filter(({ upstream }) => upstream === server)
    return {
      server,
      tools: own.map(({ tool }) => tool),
      allTokens: sum(own),
      listedTokens: sum(own.filter(({ name }) => listed.has(name))),
    }
  })
  return (
    <>
      <Table
        label={t('edits.deny.title')}
        isShort
        rows={rows.toSorted((a, b) => b.listedTokens - a.listedTokens || b.allTokens - a.allTokens)}
        rowKey={({ server }) => server}
        empty={t('usage.unused.none')}
        columns={[
          { key: 'server', title: t('server'), cell: ({ server }) => server, sort: ({ server }) => server },
          { key: 'tools', title: t('edits.tools'), cell: ({ tools }) => tools.length, isNumber: true },
          {
            key: 'listed',
            title: t('edits.listed'),
            cell: ({ listedTokens }) => fewer(listedTokens),
            sort: ({ listedTokens }) => listedTokens,
            isNumber: true,
          },
          {
            key: 'all',
            title: t('edits.all'),
            cell: ({ allTokens }) => fewer(allTokens),
            sort: ({ allTokens }) => allTokens,
            isNumber: true,
            hideSmall: true,
          },
          {
            key: 'edit',
            title: t('edits.edit'),
            cell: (row) => (
              <button type="button" class="tiny" onClick={() => setChosen(row)}>
                {t('edits.show')}
                <span class="visually-hidden"> {row.server}</span>
              </button>
            ),
          },
        ]}
      />
      {chosen !== undefined && <Denial key={chosen.server} row={chosen} onDone={() => setChosen(undefined)} />}
    </>
  )
}

/** One edit: what it changes in the configuration, and its command. */
function Denial({ row: { server, tools, listedTokens }, onDone }: { readonly row: Row; readonly onDone: () => void }) {
  const session = useQuery<PageSession>('/session')
  const [differences, setDifferences] = useState<readonly Difference[]>()
  const path = `/upstreams/${encodeURIComponent(server)}/settings`
  const current = useQuery<ServerSettings>(path, ['config'])
  const before = current.data?.settings.deny
  const deny = [...new Set([...(Array.isArray(before) ? before.map(String) : []), ...tools])]
  const save = async (dryRun: boolean): Promise<void> => {
    const result = await send<SettingsResult>('POST', path, { changes: [{ path: ['deny'], value: deny }], dryRun })
    setDifferences(result.differences)
  }
  return (
    <div class="stack padded">
      <h3>{t('edits.deny', { count: tools.length, server, tokens: listedTokens })}</h3>
      <p class="small muted break">{tools.join(', ')}</p>
      {current.error !== undefined && <p role="alert">{current.error.message}</p>}
      {differences !== undefined && <Diff label={t('settings.diff')} differences={differences} />}
      <div class="row">
        {differences === undefined ? (
          <button type="button" disabled={current.data === undefined} onClick={() => void act(() => save(true))}>
            {t('settings.compare')}
          </button>
        ) : (
          <button
            type="button"
            class="primary"
            disabled={session.data?.role !== 'admin'}
            onClick={() =>
              void act(() => save(false), t('settings.saved', { server })).then((isDone) => (isDone ? onDone() : undefined))
            }
          >
            {t('settings.save')}
          </button>
        )}
        <button type="button" class="plain" onClick={onDone}>
          {t('close')}
        </button>
      </div>
      <Command text={unfold('set', server, `deny=${JSON.stringify(deny)}`)} />
    </div>
  )
}

const exposures = ['groups', 'search', 'lazy'] as const

/** The list of a new client with another exposure, computed by the gateway. */
function Exposures({ current }: { readonly current: ClientView }) {
  return (
    <Card title={t('edits.exposure.title')}>
      <div class="stack">
        <p class="muted">{t('edits.exposure.now', { exposure: current.exposure, tokens: current.listedTokens })}</p>
        <ul class="steps plain">
          {exposures
            .filter((exposure) => exposure !== current.exposure)
            .map((exposure) => (
              <ExposureRow key={exposure} exposure={exposure} current={current} />
            ))}
        </ul>
      </div>
    </Card>
  )
}

function ExposureRow({ exposure, current }: { readonly exposure: string; readonly current: ClientView }) {
  const view = useQuery<ClientView>(`/view?query=${encodeURIComponent(`exposure=${exposure}`)}`, ['change', 'config'])
  if (view.data === undefined) return null
  const { listedTokens } = view.data
  const saved = current.listedTokens === 0 ? 0 : 1 - listedTokens / current.listedTokens
  return (
    <li class="stack">
      <span>
        {t(saved < 0 ? 'edits.exposure.more' : 'edits.exposure.less', {
          exposure,
          tokens: listedTokens,
          share: formatPercent(Math.abs(saved)),
        })}
      </span>
      <Command text={`"exposure": "${exposure}"`} label={t('audit.entry')} />
    </li>
  )
}
