import { type Field, formOf } from '@unfold-mcp/core'
import { useMemo, useState } from 'preact/hooks'
import { unfold } from '../../commands/command.ts'
import { Empty, Loaded, NeedsRole } from '../../components/basics.tsx'
import { Command } from '../../components/command.tsx'
import { act } from '../../components/toasts.tsx'
import { send } from '../../data/api.ts'
import type { ServerSettings, SettingChange, SettingsResult } from '../../data/contract.ts'
import { useMay, useQuery } from '../../data/hooks.ts'
import { Fields } from '../../forms/form.tsx'
import { TextFiles } from '../../forms/input.tsx'
import { recordOf } from '../../forms/value.ts'
import { t } from '../../locales/translate.ts'
import { SettingsPreview } from '../settings-preview.tsx'

const tables: readonly string[] = ['env', 'headers']

/** What differs from the file: key by key, and in tables entry by entry. */
function changesOf(before: object, after: object): readonly SettingChange[] {
  const [old, now] = [recordOf(before), recordOf(after)]
  return [...new Set([...Object.keys(old), ...Object.keys(now)])].flatMap((key): readonly SettingChange[] => {
    if (JSON.stringify(old[key]) === JSON.stringify(now[key])) return []
    if (!tables.includes(key) || old[key] === undefined || now[key] === undefined) return [change([key], now[key])]
    const [oldTable, nowTable] = [recordOf(old[key]), recordOf(now[key])]
    return [...new Set([...Object.keys(oldTable), ...Object.keys(nowTable)])].flatMap((name) =>
      oldTable[name] === nowTable[name] ? [] : [change([key, name], nowTable[name])],
    )
  })
}

const change = (path: readonly string[], value: unknown): SettingChange => ({ path, ...(value !== undefined && { value }) })

/** The entry of a server in the configuration file, as a form. */
export function Settings({ name }: { readonly name: string }) {
  const settings = useQuery<ServerSettings>(`/upstreams/${encodeURIComponent(name)}/settings`, ['config'])
  const isAdmin = useMay('admin') === true
  return (
    <Loaded {...settings}>
      {(data) => (
        <Editor key={JSON.stringify(data.settings)} name={name} data={data} isAdmin={isAdmin} onSaved={settings.reload} />
      )}
    </Loaded>
  )
}

interface EditorProps {
  readonly name: string
  readonly data: ServerSettings
  readonly isAdmin: boolean
  readonly onSaved: () => void
}

function Editor({ name, data: { file, settings, schema }, isAdmin, onSaved }: EditorProps) {
  const form = useMemo(() => formOf(schema), [schema])
  const [value, setValue] = useState<unknown>(settings)
  const [preview, setPreview] = useState<SettingsResult>()
  const changes = changesOf(settings, recordOf(value))
  const path = `/upstreams/${encodeURIComponent(name)}/settings`
  const save = async (dryRun: boolean): Promise<void> => {
    let result: SettingsResult | undefined
    const isDone = await act(
      async () => {
        result = await send<SettingsResult>('POST', path, { changes, dryRun })
      },
      dryRun ? undefined : t('settings.saved', { server: name }),
    )
    if (!isDone) return
    setPreview(result)
    if (!dryRun) onSaved()
  }
  return (
    <form
      class="stack padded"
      onSubmit={(event) => {
        event.preventDefault()
        void save(preview === undefined)
      }}
    >
      <p class="muted break">{t('settings.lead', { file })}</p>
      <NeedsRole least="admin" />
      <div class="columns">
        <TextFiles.Provider value={false}>
          <Fields
            field={withoutDefaults(form.root)}
            value={value}
            onChange={(next) => {
              setPreview(undefined)
              setValue(next)
            }}
          />
        </TextFiles.Provider>
      </div>
      {preview !== undefined && preview.differences.length === 0 && <Empty title={t('settings.same')} />}
      {preview !== undefined && preview.differences.length > 0 && <SettingsPreview preview={preview} />}
      <div class="row actions">
        <button type="submit" class="primary" disabled={!isAdmin || changes.length === 0}>
          {t(preview === undefined ? 'settings.compare' : 'settings.save')}
        </button>
        <button
          type="button"
          disabled={changes.length === 0}
          onClick={() => {
            setPreview(undefined)
            setValue(settings)
            onSaved()
          }}
        >
          {t('settings.reset')}
        </button>
      </div>
      {changes.length > 0 && <Command text={settingCommand(name, changes)} />}
    </form>
  )
}

/** Keys that the file does not have are not written, so none is required but what identifies the server. */
const withoutDefaults = (root: Field): Field => ({ ...root, required: true, label: '' })

function settingCommand(name: string, changes: readonly SettingChange[]): string {
  const words = changes.flatMap(({ path, value }) =>
    value === undefined
      ? ['--remove', path.join('.')]
      : [`${path.join('.')}=${typeof value === 'string' ? value : JSON.stringify(value)}`],
  )
  return unfold('set', name, ...words)
}
