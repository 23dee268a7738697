/** Work in small steps, so that the server stays responsive; returns the result. */
type Work = (size: number) => Generator<undefined, string>

/** Computations by name. */
export const works = { primes, collatz, palindromes } as const satisfies { readonly [kind: string]: Work }

export type Kind = keyof typeof works

function* primes(size: number): Generator<undefined, string> {
  const isComposite = new Uint8Array(size)
  let count = 0
  for (let number = 2; number < size; number++) {
    yield
    if (isComposite[number] === 1) continue
    count++
    for (let multiple = number * number; multiple < size; multiple += number) isComposite[multiple] = 1
  }
  return `There are ${count} primes below ${size}.`
}

function* collatz(size: number): Generator<undefined, string> {
  let best = { start: 1, steps: 0 }
  for (let start = 1; start < size; start++) {
    let steps = 0
    for (let number = start; number !== 1; steps++) {
      yield
      number = number % 2 === 0 ? number / 2 : 3 * number + 1
    }
    if (steps > best.steps) best = { start, steps }
  }
  return `Below ${size} the longest way to 1 begins at ${best.start} and takes ${best.steps} steps.`
}

function* palindromes(size: number): Generator<undefined, string> {
  let count = 0
  for (let number = 0; number < size; number++) {
    yield
    const digits = String(number).split('')
    if (digits.join('') === digits.toReversed().join('')) count++
  }
  return `${count} numbers below ${size} read the same backwards.`
}
