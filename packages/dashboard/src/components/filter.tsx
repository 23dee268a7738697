import { useId } from 'preact/hooks'

interface FilterProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly isSecret?: boolean
}

export function Filter({ label, value, onChange, isSecret = false }: FilterProps) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {isSecret ? (
        <input id={id} type="password" value={value} onInput={(event) => onChange(event.currentTarget.value)} />
      ) : (
        <input
          id={id}
          type="search"
          value={value}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </div>
  )
}

interface SelectProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly options: readonly (readonly [value: string, label: string])[]
}

export function Select({ label, value, onChange, options }: SelectProps) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
    </div>
  )
}

/** Whether every word of a filter is in one of the texts. */
export function matches(filter: string, ...texts: readonly (string | undefined)[]): boolean {
  const text = texts.join('\n').toLowerCase()
  return filter
    .toLowerCase()
    .split(/\s+/u)
    .every((word) => text.includes(word))
}
