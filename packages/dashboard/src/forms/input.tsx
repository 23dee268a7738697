import type { Field } from '@unfold-mcp/core'
import { createContext } from 'preact'
import { useContext, useId, useState } from 'preact/hooks'
import { t } from '../locales/translate.ts'
import { fileText } from './file.ts'

export interface InputProps<F extends Field = Field> {
  readonly field: F
  readonly value: unknown
  readonly onChange: (value: unknown) => void
}

/** Whether long texts can be read from a file too. Values that are no text always can. */
export const TextFiles = createContext(true)

/** Label, hint and control of one value. */
function Labelled({
  field,
  children,
}: {
  readonly field: Field
  readonly children: (ids: { readonly id: string; readonly hint: string | undefined }) => preact.ComponentChildren
}) {
  const id = useId()
  const hint = hintOf(field)
  return (
    <div class="field">
      {field.label !== '' && (
        <label for={id}>
          {field.label}
          {field.required && (
            <span class="required" aria-hidden="true">
              {' '}
              {t('form.required')}
            </span>
          )}
        </label>
      )}
      {children({ id, hint: hint === '' ? undefined : `${id}-hint` })}
      {hint !== '' && (
        <span id={`${id}-hint`} class="muted small break">
          {hint}
        </span>
      )}
    </div>
  )
}

// Schemas of programs that know no larger number.
const maxInteger = 2_147_483_647

/** Description, limits and default in one line. */
function hintOf({ description, constraints, default: preset, secret }: Field): string {
  const { minimum, maximum, minLength, maxLength, pattern, format } = constraints
  const range = (low: number | undefined, high: number | undefined, unit = ''): string => {
    const max = high === undefined || high >= maxInteger ? undefined : high
    if (max === undefined) return low === undefined || low <= 1 ? '' : `≥ ${low}${unit}`
    return low === undefined || low <= 0 ? `≤ ${max}${unit}` : `${low} – ${max}${unit}`
  }
  return [
    description,
    range(minimum, maximum),
    range(minLength, maxLength, ` ${t('form.characters')}`),
    format,
    pattern,
    preset === undefined || preset === null || preset === '' || secret
      ? undefined
      : t('form.default', { value: typeof preset === 'string' ? preset : JSON.stringify(preset) }),
  ]
    .filter((part) => part !== undefined && part !== '')
    .join(' · ')
}

export function TextInput({ field, value, onChange }: InputProps) {
  const [problem, setProblem] = useState('')
  const hasTextFiles = useContext(TextFiles)
  const text = typeof value === 'string' ? value : ''
  const update = (next: string): void => onChange(next === '' && !field.required ? undefined : next)
  const load = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return
    const read = await fileText(file, field.kind === 'file' ? 'base64' : 'text')
    setProblem('problem' in read ? read.problem : '')
    if ('text' in read) update(read.text)
  }
  return (
    <Labelled field={field}>
      {({ id, hint }) => (
        <>
          {field.kind === 'text' ? (
            <input
              id={id}
              {...(field.secret ? { type: 'password' as const } : {})}
              value={text}
              required={field.required}
              autocomplete="off"
              spellcheck={false}
              aria-describedby={hint}
              onInput={(event) => update(event.currentTarget.value)}
            />
          ) : (
            <textarea
              id={id}
              rows={field.kind === 'file' ? 2 : 5}
              value={text}
              required={field.required}
              spellcheck={false}
              aria-describedby={hint}
              onInput={(event) => update(event.currentTarget.value)}
            />
          )}
          {(field.kind === 'file' || (field.kind === 'multiline' && hasTextFiles)) && (
            <input
              type="file"
              aria-label={t('form.file', { name: field.label })}
              onChange={(event) => void load(event.currentTarget.files?.[0])}
            />
          )}
          {problem !== '' && <span role="alert">{problem}</span>}
        </>
      )}
    </Labelled>
  )
}

export function NumberInput({ field, value, onChange }: InputProps) {
  // What is typed, such as "1." or "-", is not always a number yet.
  const [text, setText] = useState(typeof value === 'number' ? String(value) : '')
  const { minimum, maximum, multipleOf } = field.constraints
  return (
    <Labelled field={field}>
      {({ id, hint }) => (
        <input
          id={id}
          type="number"
          inputMode={field.kind === 'integer' ? 'numeric' : 'decimal'}
          step={field.kind === 'integer' ? (multipleOf ?? 1) : 'any'}
          min={minimum}
          max={maximum}
          value={text}
          required={field.required}
          aria-describedby={hint}
          onInput={(event) => {
            const next = event.currentTarget.value
            setText(next)
            onChange(next === '' || Number.isNaN(Number(next)) ? undefined : Number(next))
          }}
        />
      )}
    </Labelled>
  )
}

export function ChoiceInput({ field, value, onChange }: InputProps) {
  const choices =
    field.kind === 'choice'
      ? field.choices
      : [
          { value: true, label: t('form.yes') },
          { value: false, label: t('form.no') },
        ]
  const selected = choices.findIndex((choice) => JSON.stringify(choice.value) === JSON.stringify(value))
  return (
    <Labelled field={field}>
      {({ id, hint }) => (
        <select
          id={id}
          value={selected === -1 ? '' : String(selected)}
          required={field.required}
          aria-describedby={hint}
          onChange={(event) => {
            const { value: index } = event.currentTarget
            onChange(index === '' ? undefined : choices[Number(index)]?.value)
          }}
        >
          <option value="">{t(field.required ? 'form.choose' : 'form.none')}</option>
          {choices.map(({ label }, index) => (
            <option key={label} value={String(index)}>
              {label}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  )
}

export function JsonInput({ field, value, onChange }: InputProps) {
  const [text, setText] = useState(value === undefined ? '' : JSON.stringify(value, null, 2))
  const [problem, setProblem] = useState('')
  const update = (next: string): void => {
    setText(next)
    if (next.trim() === '') {
      setProblem('')
      onChange(undefined)
      return
    }
    try {
      onChange(JSON.parse(next))
      setProblem('')
    } catch (error) {
      setProblem(t('form.json.invalid', { problem: error instanceof Error ? error.message : String(error) }))
    }
  }
  return (
    <Labelled field={field}>
      {({ id, hint }) => (
        <>
          <textarea
            id={id}
            rows={4}
            value={text}
            required={field.required}
            spellcheck={false}
            placeholder={t('form.json', { types: field.kind === 'json' ? (field.types?.join(', ') ?? '') : '' })}
            aria-invalid={problem !== ''}
            aria-describedby={hint}
            onInput={(event) => update(event.currentTarget.value)}
          />
          {problem !== '' && <span role="alert">{problem}</span>}
        </>
      )}
    </Labelled>
  )
}
