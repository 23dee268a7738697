// `then` would make the client a thenable; the others are its own members.
const reserved = ['close', 'connection', 'constructor', 'prototype', 'then']

/** Creates unique identifiers from arbitrary names. */
export class Names {
  readonly #used = new Set(reserved)

  /** `create-issue` as `createIssue`. */
  camel(name: string): string {
    const [first = '', ...others] = wordsIn(name)
    return this.#unique(`${first.toLowerCase()}${others.map(capital).join('')}`)
  }

  /** `create-issue` as `CreateIssue`. */
  pascal(name: string, ending = ''): string {
    return this.#unique(`${wordsIn(name).map(capital).join('')}${ending}`)
  }

  #unique(base: string): string {
    const start = /^[A-Za-z_$]/u.test(base) ? base : `_${base}`
    let name = start
    for (let number = 2; this.#used.has(name); number++) name = `${start}${number}`
    this.#used.add(name)
    return name
  }
}

const maxLength = 60

const wordsIn = (name: string): readonly string[] => {
  const words = name.slice(0, maxLength).match(/[A-Z]?[a-z0-9]+|[A-Z0-9]+(?![a-z])/gu) ?? []
  return words.length === 0 ? ['tool'] : words
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase()
