// Names that the declarations themselves use.
const taken = ['Promise', 'Record', 'Array']

/** Named types next to the declarations: shared or recursive parts of schemas. */
export class TypeNames {
  readonly #texts = new Map<string, string>(taken.map((name) => [name, '']))

  /** Reserves a name like `wanted`. */
  reserve(wanted: string): string {
    const base = typeName(wanted)
    let name = base
    for (let count = 2; this.#texts.has(name); count++) name = `${base}${count}`
    this.#texts.set(name, '')
    return name
  }

  define(name: string, text: string): void {
    this.#texts.set(name, text)
  }

  /** The name of a type with this text, the same for equal ones. */
  shared(wanted: string, text: string): string {
    const base = typeName(wanted)
    for (let name = base, count = 2; this.#texts.has(name); name = `${base}${count++}`)
      if (this.#texts.get(name) === text) return name
    const name = this.reserve(wanted)
    this.define(name, text)
    return name
  }

  declarations(): readonly string[] {
    return [...this.#texts].flatMap(([name, text]) => (text === '' ? [] : [`type ${name} = ${text}`]))
  }
}

const longestName = 60

function typeName(wanted: string): string {
  const words = wanted
    .slice(0, longestName)
    .split(/[^A-Za-z0-9]+/u)
    .filter((word) => word !== '')
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  return /^[A-Z]/u.test(name) ? name : `Type${name}`
}
