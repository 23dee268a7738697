import { namedWord } from '../arguments/name.ts'
import type { Candidate, KnownFlag } from './candidate.ts'

/** Completes a flag that is not used yet, or its value. */
export function completeArgument(flags: readonly KnownFlag[], given: readonly string[], current: string): readonly Candidate[] {
  const inline = namedWord(current)
  if (inline.separator === ':=') return []
  if (inline.separator === '=') {
    const name = inline.name.replace(/^--(?:arg:)?/u, '')
    const values = flags.find((flag) => flag.name === name)?.values ?? []
    return values.map((candidate) => ({ ...candidate, value: `${inline.name}=${candidate.value}` }))
  }
  const last = given.at(-1)
  const waiting = flags.find((flag) => flag.text === last && flag.isSwitch !== true)
  if (waiting !== undefined) return waiting.values ?? []
  const used = new Set(given.map((word) => namedWord(word).name))
  const left = flags.filter((flag) => flag.isList === true || !isUsed(flag, used))
  const ordered = [...left.filter(({ isRequired }) => isRequired), ...left.filter(({ isRequired }) => !isRequired)]
  return ordered.flatMap((flag) => candidatesFor(flag, current))
}

const isUsed = ({ text, name, negation }: KnownFlag, used: ReadonlySet<string>): boolean =>
  used.has(text) || used.has(name) || (negation !== undefined && used.has(negation))

function candidatesFor({ text, negation, description, isRequired }: KnownFlag, current: string): readonly Candidate[] {
  const words = isRequired ? `required${description === undefined ? '' : `: ${description}`}` : description
  const flag = { value: text, description: words }
  return negation !== undefined && current.startsWith('--no-') ? [flag, { value: negation, description }] : [flag]
}
