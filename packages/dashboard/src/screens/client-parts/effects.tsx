import { useState } from 'preact/hooks'
import { Empty, Loaded } from '../../components/basics.tsx'
import { Filter, Select } from '../../components/filter.tsx'
import type { ClientView } from '../../data/contract.ts'
import { useQuery } from '../../data/hooks.ts'
import { t } from '../../locales/translate.ts'
import { SearchReport } from '../tool/search-report.tsx'
import { searchOf, type Who } from './who.ts'

/** What this client would be listed after it activates a group. */
export function ActivationEffect({ who, view }: { readonly who: Who; readonly view: ClientView }) {
  const [group, setGroup] = useState('')
  const activated = useQuery<ClientView>(group === '' ? undefined : `/view?${searchOf(who, { activate: group })}`)
  if (view.groups.length === 0) return <Empty title={t('clients.activate.no-groups')} />
  return (
    <div class="stack padded">
      <div class="filters">
        <Select
          label={t('clients.activate.group')}
          value={group}
          onChange={setGroup}
          options={[['', t('clients.activate.nothing')], ...view.groups.map((each) => [each, each] as const)]}
        />
      </div>
      {group !== '' && <Loaded {...activated}>{(after) => <Activation before={view} after={after} />}</Loaded>}
    </div>
  )
}

const namesOf = ({ listed }: ClientView): readonly string[] =>
  listed.map(({ definition }) => ('name' in definition ? String(definition.name) : ''))

function Activation({ before, after }: { readonly before: ClientView; readonly after: ClientView }) {
  const known = new Set(namesOf(before))
  const added = namesOf(after).filter((name) => !known.has(name))
  if (!after.canActivate) return <p role="status">{t('clients.activate.fixed')}</p>
  return (
    <>
      <p role="status">
        {added.length === 0
          ? t('clients.activate.none')
          : t('clients.activate.effect', { count: added.length, tokens: after.listedTokens - before.listedTokens })}
      </p>
      <p class="muted break">{added.join(', ')}</p>
    </>
  )
}

/** What this client would find. */
export function SearchEffect({ who }: { readonly who: Who }) {
  const [text, setText] = useState('')
  const [asked, setAsked] = useState('')
  const searched = useQuery<ClientView>(asked === '' ? undefined : `/view?${searchOf(who, { search: asked })}`)
  return (
    <div class="stack padded">
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault()
          setAsked(text)
        }}
      >
        <Filter label={t('clients.search.query')} value={text} onChange={setText} />
        <button type="submit" disabled={text.trim() === ''}>
          {t('clients.search.submit')}
        </button>
      </form>
      {asked !== '' && (
        <Loaded {...searched}>
          {({ search }) => (search === undefined ? null : <SearchReport query={asked} report={search} />)}
        </Loaded>
      )}
    </div>
  )
}
