import type { Field } from '@unfold-mcp/core'
import { useId, useState } from 'preact/hooks'
import { Select } from '../components/filter.tsx'
import { t } from '../locales/translate.ts'
import { ChoiceInput, type InputProps, JsonInput, NumberInput, TextInput } from './input.tsx'
import { isEmptyObject, itemsOf, recordOf, withKey } from './value.ts'

type Of<K extends Field['kind']> = Extract<Field, { readonly kind: K }>

/** The form of a schema. An optional value that nobody entered is not part of the result. */
export function Fields({ field, value, onChange }: InputProps) {
  if (field.kind === 'object')
    return (
      <div class="stack">
        <ObjectFields field={field} value={value} onChange={onChange} />
      </div>
    )
  return <FieldInput field={field} value={value} onChange={onChange} />
}

function FieldInput({ field, value, onChange }: InputProps) {
  if (field.nullable && value === null)
    return (
      <Group field={field}>
        <NullSwitch isNull onChange={(isNull) => onChange(isNull ? null : undefined)} />
      </Group>
    )
  const input = <ValueInput field={field} value={value} onChange={onChange} />
  if (!field.nullable || field.kind === 'choice') return input
  return (
    <>
      {input}
      <NullSwitch isNull={false} onChange={(isNull) => onChange(isNull ? null : undefined)} />
    </>
  )
}

function NullSwitch({ isNull, onChange }: { readonly isNull: boolean; readonly onChange: (isNull: boolean) => void }) {
  return (
    <label class="check small">
      <input type="checkbox" checked={isNull} onChange={(event) => onChange(event.currentTarget.checked)} />
      {t('form.null')}
    </label>
  )
}

function ValueInput({ field, value, onChange }: InputProps) {
  switch (field.kind) {
    case 'text':
    case 'multiline':
    case 'file':
      return <TextInput field={field} value={value} onChange={onChange} />
    case 'number':
    case 'integer':
      return <NumberInput field={field} value={value} onChange={onChange} />
    case 'boolean':
    case 'choice':
      return <ChoiceInput field={field} value={value} onChange={onChange} />
    case 'multichoice':
      return <MultiChoice field={field} value={value} onChange={onChange} />
    case 'list':
      return <ListInput field={field} value={value} onChange={onChange} />
    case 'object':
      return (
        <Group field={field}>
          <ObjectFields field={field} value={value} onChange={onChange} />
        </Group>
      )
    case 'union':
      return <UnionInput field={field} value={value} onChange={onChange} />
    default:
      return <JsonInput field={field} value={value} onChange={onChange} />
  }
}

function Group({ field, children }: { readonly field: Field; readonly children: preact.ComponentChildren }) {
  const id = useId()
  return (
    <fieldset aria-describedby={field.description === undefined ? undefined : id}>
      <legend>
        {field.label === '' ? t('form.item') : field.label}
        {field.required && (
          <span class="required" aria-hidden="true">
            {' '}
            {t('form.required')}
          </span>
        )}
      </legend>
      {field.description !== undefined && (
        <span id={id} class="muted small break">
          {field.description}
        </span>
      )}
      {children}
    </fieldset>
  )
}

function ObjectFields({ field, value, onChange }: InputProps<Of<'object'>>) {
  const object = recordOf(value)
  // What an optional object requires matters only once somebody fills it in.
  const isUsed = field.required || !isEmptyObject(object)
  const set = (next: { readonly [name: string]: unknown }): void =>
    onChange(!field.required && isEmptyObject(next) ? undefined : next)
  const names = new Set(field.fields.map(({ name }) => name))
  return (
    <>
      {field.fields.map((inner) => (
        <FieldInput
          key={inner.name}
          field={isUsed ? inner : { ...inner, required: false }}
          value={object[inner.name]}
          onChange={(next) => set(withKey(object, inner.name, next))}
        />
      ))}
      {field.extra !== undefined && <ExtraFields field={field.extra} value={object} known={names} onChange={set} />}
    </>
  )
}

interface ExtraProps {
  readonly field: Field
  readonly value: { readonly [name: string]: unknown }
  readonly known: ReadonlySet<string>
  readonly onChange: (value: { readonly [name: string]: unknown }) => void
}

/** Properties that the schema allows without naming them, such as environment variables. */
function ExtraFields({ field, value, known, onChange }: ExtraProps) {
  const [name, setName] = useState('')
  const id = useId()
  const extra = Object.keys(value).filter((key) => !known.has(key))
  const isFree = name !== '' && !Object.hasOwn(value, name) && !known.has(name)
  return (
    <>
      {extra.map((key) => (
        <div key={key} class="row top">
          <div class="grow">
            <FieldInput
              field={{ ...field, label: key, name: key }}
              value={value[key]}
              onChange={(next) => onChange({ ...value, [key]: next === undefined ? '' : next })}
            />
          </div>
          <button type="button" class="tiny" onClick={() => onChange(withKey(value, key, undefined))}>
            {t('form.remove')}
            <span class="visually-hidden"> {key}</span>
          </button>
        </div>
      ))}
      <div class="row end">
        <div class="field">
          <label for={id}>{t('form.name')}</label>
          <input id={id} value={name} autocomplete="off" onInput={(event) => setName(event.currentTarget.value)} />
        </div>
        <button
          type="button"
          disabled={!isFree}
          onClick={() => {
            onChange({ ...value, [name]: emptyValue(field) })
            setName('')
          }}
        >
          {t('form.add')}
        </button>
      </div>
    </>
  )
}

function MultiChoice({ field, value, onChange }: InputProps<Of<'multichoice'>>) {
  const chosen = itemsOf(value).map((each) => JSON.stringify(each))
  const toggle = (index: number, isOn: boolean): void => {
    const next = field.choices.flatMap((choice, at) =>
      (at === index ? isOn : chosen.includes(JSON.stringify(choice.value))) ? [choice.value] : [],
    )
    onChange(next.length === 0 && !field.required ? undefined : next)
  }
  return (
    <Group field={field}>
      {field.choices.map(({ label, value: each }, index) => (
        <label key={label} class="check">
          <input
            type="checkbox"
            checked={chosen.includes(JSON.stringify(each))}
            onChange={(event) => toggle(index, event.currentTarget.checked)}
          />
          {label}
        </label>
      ))}
    </Group>
  )
}

function ListInput({ field, value, onChange }: InputProps<Of<'list'>>) {
  const items = itemsOf(value)
  // Items have no identity of their own: removing one must not give its text to the next.
  const [keys, setKeys] = useState(() => items.map((_, index) => index))
  const set = (next: readonly unknown[]): void => onChange(next.length === 0 && !field.required ? undefined : next)
  return (
    <Group field={field}>
      {items.map((item, index) => (
        <div key={keys[index] ?? index} class="row top">
          <div class="grow">
            <FieldInput
              field={{
                ...field.item,
                label: t('form.item.number', { number: index + 1 }),
                required: field.item.kind === 'object',
              }}
              value={item}
              onChange={(next) =>
                set(items.map((each, at) => (at === index ? (next === undefined ? emptyValue(field.item) : next) : each)))
              }
            />
          </div>
          <button
            type="button"
            class="tiny"
            onClick={() => {
              setKeys(keys.filter((_, at) => at !== index))
              set(items.filter((_, at) => at !== index))
            }}
          >
            {t('form.remove')}
            <span class="visually-hidden"> {t('form.item.number', { number: index + 1 })}</span>
          </button>
        </div>
      ))}
      <div>
        <button
          type="button"
          onClick={() => {
            setKeys([...keys, Math.max(-1, ...keys) + 1])
            set([...items, emptyValue(field.item)])
          }}
        >
          {t('form.add')}
          <span class="visually-hidden"> {field.label}</span>
        </button>
      </div>
    </Group>
  )
}

function UnionInput({ field, value, onChange }: InputProps<Of<'union'>>) {
  const [branch, setBranch] = useState(() => (value === undefined ? '' : String(branchOf(field, value))))
  const chosen = branch === '' ? undefined : field.branches[Number(branch)]
  return (
    <Group field={field}>
      <Select
        label={t('form.kind')}
        value={branch}
        onChange={(next) => {
          setBranch(next)
          const inner = field.branches[Number(next)]?.field
          onChange(next === '' || inner === undefined ? undefined : emptyValue(inner))
        }}
        options={[
          ['', t(field.required ? 'form.choose' : 'form.none')],
          ...field.branches.map(({ label }, index) => [String(index), label] as const),
        ]}
      />
      {chosen !== undefined &&
        (chosen.field.kind === 'object' ? (
          <ObjectFields key={branch} field={{ ...chosen.field, required: true }} value={value} onChange={onChange} />
        ) : (
          <FieldInput
            key={branch}
            field={{ ...chosen.field, label: chosen.label, required: field.required }}
            value={value}
            onChange={onChange}
          />
        ))}
    </Group>
  )
}

/** The branch that a value came from, as far as its type tells. */
function branchOf({ branches }: Of<'union'>, value: unknown): number {
  const kind = Array.isArray(value) ? 'list' : typeof value === 'object' ? 'object' : typeof value
  const kinds: { readonly [kind: string]: readonly Field['kind'][] } = {
    list: ['list', 'multichoice'],
    object: ['object'],
    string: ['text', 'multiline', 'file', 'choice'],
    number: ['number', 'integer', 'choice'],
    boolean: ['boolean', 'choice'],
  }
  const found = branches.findIndex(({ field }) => kinds[kind]?.includes(field.kind) === true)
  return found === -1 ? 0 : found
}

/** What an added item or a chosen branch starts with; a constant needs no input. */
function emptyValue(field: Field): unknown {
  if (field.kind === 'choice' && field.choices.length === 1) return field.choices[0]?.value
  if (field.kind === 'list' || field.kind === 'multichoice') return []
  if (field.kind === 'text' || field.kind === 'multiline' || field.kind === 'file') return ''
  if (field.kind === 'boolean') return false
  if (field.kind !== 'object') return null
  const constants = field.fields.flatMap((inner) =>
    inner.required && inner.kind === 'choice' && inner.choices.length === 1 ? [[inner.name, emptyValue(inner)]] : [],
  )
  return Object.fromEntries(constants)
}
