import { anyNumber, type CharacterSet, InvalidPattern, type Node } from './pattern-syntax.ts'

/** Instruction of the matcher: consume a character, assert, split, or accept. */
export type Step =
  | { readonly kind: 'take'; readonly set: CharacterSet }
  | { readonly kind: 'hold'; readonly at: 'start' | 'end' | 'edge' | 'inside' }
  | { readonly kind: 'fork'; readonly to: readonly number[] }
  | { readonly kind: 'end' }

const maxSteps = 600

/** Compiles a pattern; throws `InvalidPattern` if it is too large or can match nothing. */
export function stepsOf(node: Node): readonly Step[] {
  if (canBeEmpty(node)) {
    throw new InvalidPattern('The pattern matches the empty string, like `a*`. Require at least one character, such as `a+`.')
  }
  const steps: Step[] = []
  emit(node, steps)
  steps.push({ kind: 'end' })
  return steps
}

function canBeEmpty(node: Node): boolean {
  if (node.kind === 'take') return false
  if (node.kind === 'hold') return true
  if (node.kind === 'repeat') return node.from === 0 || canBeEmpty(node.part)
  return node.kind === 'after' ? node.parts.every(canBeEmpty) : node.parts.some(canBeEmpty)
}

function emit(node: Node, steps: Step[]): void {
  if (steps.length > maxSteps) {
    throw new InvalidPattern('The pattern nests too many repetitions. Use `+` or `*` instead of numbers, or several patterns.')
  }
  if (node.kind === 'take' || node.kind === 'hold') {
    steps.push(node)
    return
  }
  if (node.kind === 'after') {
    for (const part of node.parts) emit(part, steps)
    return
  }
  if (node.kind === 'either') {
    emitEither(node.parts, steps)
    return
  }
  for (let i = 0, before = -1; i < node.from && steps.length > before; i++) {
    // Repeating an empty part has no effect.
    before = steps.length
    emit(node.part, steps)
  }
  if (node.to === anyNumber) {
    emitLoop(node.part, steps)
    return
  }
  for (let i = node.from; i < node.to; i++) emitEither([node.part, { kind: 'after', parts: [] }], steps)
}

function emitEither(parts: readonly Node[], steps: Step[]): void {
  const fork: number[] = []
  steps.push({ kind: 'fork', to: fork })
  const ends: number[][] = []
  for (const part of parts) {
    fork.push(steps.length)
    emit(part, steps)
    const end: number[] = []
    ends.push(end)
    steps.push({ kind: 'fork', to: end })
  }
  for (const end of ends) end.push(steps.length)
}

function emitLoop(part: Node, steps: Step[]): void {
  const fork: number[] = []
  const start = steps.length
  steps.push({ kind: 'fork', to: fork })
  fork.push(steps.length)
  emit(part, steps)
  steps.push({ kind: 'fork', to: [start] })
  fork.push(steps.length)
}
