/** The same without members that are `undefined`. */
export type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** What was given of these options: what was not is left out. */
export function defined<T extends object>(all: T): Defined<T> {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Defined<T>
}
