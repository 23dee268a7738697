/** `T` without `undefined` values. */
export type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** Removes properties that are `undefined`. */
export function defined<T extends object>(all: T): Defined<T> {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Defined<T>
}
