import { useState } from 'preact/hooks'
import { unfold } from '../../commands/command.ts'
import { Card, Loaded } from '../../components/basics.tsx'
import { Command } from '../../components/command.tsx'
import { Table } from '../../components/table.tsx'
import { act } from '../../components/toasts.tsx'
import { send } from '../../data/api.ts'
import type { ClientView, ServerSettings, SettingsResult, Tool, UsageReport, UsageRow } from '../../data/contract.ts'
import { useMay, useQuery } from '../../data/hooks.ts'
import { recordOf } from '../../forms/value.ts'
import { formatNumber, formatPercent, t } from '../../locales/translate.ts'
import { SettingsPreview } from '../settings-preview.tsx'

type Unused = UsageReport['unused'][number]

/** Edits that change what clients are listed, with their measured effect before they are applied. */
export function Edits({ unused, used }: { readonly unused: readonly Unused[]; readonly used: readonly UsageRow[] }) {
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
          <Pins view={data} used={used} />
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
      {chosen !== undefined && (
        <ServerEdit
          key={chosen.server}
          title={t('edits.deny', { count: chosen.tools.length, server: chosen.server, tokens: chosen.listedTokens })}
          server={chosen.server}
          tools={chosen.tools}
          setting="deny"
          after={(before) => [...new Set([...(Array.isArray(before) ? before.map(String) : []), ...chosen.tools])]}
          onDone={() => setChosen(undefined)}
        />
      )}
    </>
  )
}

interface ServerEditProps {
  readonly title: string
  readonly server: string
  /** What the edit is about. */
  readonly tools: readonly string[]
  /** Key of the settings, and its value after the edit. */
  readonly setting: 'deny' | 'tools'
  readonly after: (before: unknown) => unknown
  readonly onDone: () => void
}

/** One edit: what it changes in the configuration, and its command. */
function ServerEdit({ title, server, tools, setting, after, onDone }: ServerEditProps) {
  const maySave = useMay('admin') === true
  const [preview, setPreview] = useState<SettingsResult>()
  const path = `/upstreams/${encodeURIComponent(server)}/settings`
  const current = useQuery<ServerSettings>(path, ['config'])
  const value = after(current.data?.settings[setting])
  const save = async (dryRun: boolean): Promise<void> => {
    setPreview(await send<SettingsResult>('POST', path, { changes: [{ path: [setting], value }], dryRun }))
  }
  return (
    <div class="stack item">
      <h3>{title}</h3>
      <p class="small muted break">{tools.join(', ')}</p>
      {current.error !== undefined && <p role="alert">{current.error.message}</p>}
      {preview !== undefined && <SettingsPreview preview={preview} />}
      <div class="row">
        {preview === undefined ? (
          <button type="button" disabled={current.data === undefined} onClick={() => void act(() => save(true))}>
            {t('settings.compare')}
          </button>
        ) : (
          <button
            type="button"
            class="primary"
            disabled={!maySave}
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
      <Command text={unfold('set', server, `${setting}=${JSON.stringify(value)}`)} />
    </div>
  )
}

interface PinsProps {
  readonly view: ClientView
  readonly used: readonly UsageRow[]
}

const maxPins = 10

/** Tools that are called, but not listed: clients search for them each time. */
function Pins({ view, used }: PinsProps) {
  const [chosen, setChosen] = useState<string>()
  const tools = useQuery<readonly Tool[]>('/tools', ['change', 'config'])
  const unlisted = new Map(view.unlisted.map(({ name, tokens }) => [name, tokens]))
  const rows = used
    .flatMap(({ key, calls }) => {
      const tool = tools.data?.find(({ upstream, tool: original }) => `${upstream}/${original}` === key)
      const tokens = unlisted.get(tool?.name ?? '')
      return tool === undefined || tokens === undefined ? [] : [{ ...tool, calls, tokens }]
    })
    .toSorted((a, b) => b.calls - a.calls)
    .slice(0, maxPins)
  const edited = rows.find(({ name }) => name === chosen)
  if (rows.length === 0) return null
  return (
    <Card title={t('edits.pin.title')} note={t('edits.pin.note')} isFlush>
      <Table
        label={t('edits.pin.title')}
        isShort
        rows={rows}
        rowKey={({ name }) => name}
        empty=""
        columns={[
          { key: 'tool', title: t('tools.name'), cell: ({ name }) => name, sort: ({ name }) => name },
          { key: 'calls', title: t('usage.calls'), cell: ({ calls }) => formatNumber(calls), isNumber: true },
          { key: 'listed', title: t('edits.listed'), cell: ({ tokens }) => `+${formatNumber(tokens)}`, isNumber: true },
          {
            key: 'edit',
            title: t('edits.edit'),
            cell: ({ name }) => (
              <button type="button" class="tiny" onClick={() => setChosen(name)}>
                {t('edits.show')}
                <span class="visually-hidden"> {name}</span>
              </button>
            ),
          },
        ]}
      />
      {edited !== undefined && (
        <ServerEdit
          key={edited.name}
          title={t('edits.pin', { tool: edited.name, tokens: edited.tokens })}
          server={edited.upstream}
          tools={[edited.tool]}
          setting="tools"
          after={(before) => {
            const all = recordOf(before)
            return { ...all, [edited.tool]: { ...recordOf(all[edited.tool]), pinned: true } }
          }}
          onDone={() => setChosen(undefined)}
        />
      )}
    </Card>
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
